package dhcp6

import (
	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot/guard"
)

// Results of a message, the label `result` of rackboot_dhcp6_packets_total.
const (
	resultAdvertise    = "advertise"
	resultReply        = "reply"
	resultMalformed    = "malformed"     // not a DHCPv6 message that we could answer
	resultDiscard      = "discard"       // RFC 8415 section 16 forbids an answer
	resultIgnored      = "ignored"       // nothing in it that this segment answers
	resultNoSegment    = "no_segment"    // the agent has no policy for the segment yet
	resultSubnet       = "other_subnet"  // from a link that is not the segment's
	resultUnidentified = "unidentified"  // nothing in it names a machine
	resultSilence      = "silence"       // not a machine of ours
	resultElsewhere    = "elsewhere"     // for another server
	resultMulticast    = "use_multicast" // sent unicast, which no client was allowed
	resultExhausted    = "exhausted"     // no address left in the pool
	resultGuests       = "guest_limit"   // machines that are not ours hold their share of the pool
	resultUnknown      = "unknown"       // leases that we know nothing of
	resultStoreError   = "store_error"   // the lease is not on disk, so it was not granted
	resultUnsendable   = "unsendable"    // the reply cannot be made or does not fit
	resultPanic        = "panic"
)

// The label `type`: the message types that clients send.
const (
	typeSolicit = "solicit"
	typeRequest = "request"
	typeConfirm = "confirm"
	typeRenew   = "renew"
	typeRebind  = "rebind"
	typeRelease = "release"
	typeDecline = "decline"
	typeInform  = "inform"
	typeUnknown = "unknown"
)

func typeLabel(t dhcpv6.MessageType) string {
	labels := [...]string{
		dhcpv6.MessageTypeSolicit:            typeSolicit,
		dhcpv6.MessageTypeRequest:            typeRequest,
		dhcpv6.MessageTypeConfirm:            typeConfirm,
		dhcpv6.MessageTypeRenew:              typeRenew,
		dhcpv6.MessageTypeRebind:             typeRebind,
		dhcpv6.MessageTypeRelease:            typeRelease,
		dhcpv6.MessageTypeDecline:            typeDecline,
		dhcpv6.MessageTypeInformationRequest: typeInform,
	}
	if int(t) < len(labels) && labels[t] != "" {
		return labels[t]
	}
	return typeUnknown
}

type metrics struct {
	packets    *prometheus.CounterVec
	latency    prometheus.Histogram
	drops      prometheus.Counter
	sendErrors prometheus.Counter
	loops      *prometheus.CounterVec
	gauges     []prometheus.Collector
}

// gauged are the values that are read when somebody asks.
type gauged struct{ leases, resting, routers func() float64 }

func newMetrics(segment string, g gauged) *metrics {
	constant := prometheus.Labels{"segment": segment}
	gauge := func(name, help string, f func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, ConstLabels: constant, Help: help}, f)
	}
	return &metrics{
		packets: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_dhcp6_packets_total", ConstLabels: constant,
			Help: "DHCPv6 messages received, by message type and what became of them.",
		}, []string{"type", "result"}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "rackboot_dhcp6_answer_seconds", ConstLabels: constant,
			Help:    "Time from a DHCPv6 message's arrival to its reply's departure.",
			Buckets: prometheus.ExponentialBuckets(0.00025, 4, 8), // 0.25 ms to 4 s
		}),
		drops: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_dhcp6_queue_drops_total", ConstLabels: constant,
			Help: "DHCPv6 messages dropped because the queue was full.",
		}),
		sendErrors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_dhcp6_send_errors_total", ConstLabels: constant,
			Help: "DHCPv6 replies that the host could not send.",
		}),
		loops: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_dhcp6_boot_loops_total", ConstLabels: constant,
			Help: "Boots refused because the DHCPv6 client had been offered the same one too often, by its class.",
		}, []string{"class"}),
		gauges: []prometheus.Collector{
			gauge("rackboot_dhcp6_leases", "DHCPv6 leases that run.", g.leases),
			gauge("rackboot_dhcp6_resting_addresses", "IPv6 addresses that are not offered because they were found in use.", g.resting),
			gauge("rackboot_dhcp6_routers", "Routers whose advertisements were seen on the segment lately.", g.routers),
		},
	}
}

func (m *metrics) all() guard.Collectors {
	return append(guard.Collectors{m.packets, m.latency, m.drops, m.sendErrors, m.loops}, m.gauges...)
}
