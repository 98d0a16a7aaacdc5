package dhcp

import (
	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot/guard"
)

// Results of a packet, the label `result` of rackboot_dhcp_packets_total.
const (
	resultOffer      = "offer"
	resultAck        = "ack"
	resultNak        = "nak"
	resultDone       = "done"         // DECLINE or RELEASE taken; there is no reply
	resultMalformed  = "malformed"    // not a DHCP message that we could answer
	resultIgnored    = "ignored"      // a type or state that is not for a server to answer
	resultNoSegment  = "no_segment"   // the agent has no policy for the segment yet
	resultSubnet     = "other_subnet" // relayed from a subnet that is not the segment's
	resultSilence    = "silence"      // not a machine of ours
	resultElsewhere  = "elsewhere"    // the client chose another server
	resultExhausted  = "exhausted"    // no address left in the pool
	resultGuests     = "guest_limit"  // machines that are not ours hold their share of the pool
	resultUnreserved = "unreserved"   // a machine of ours without a reservation, where one is needed
	resultConflict   = "conflict"     // each address that was tried is used by a stranger
	resultLimited    = "limited"      // a DECLINE that is late, or one too many
	resultUnknown    = "unknown"      // a lease that we know nothing of
	resultStoreError = "store_error"  // the lease is not on disk, so it was not granted
	resultUnsendable = "unsendable"   // the reply would be misread or does not fit
	resultPanic      = "panic"
)

const typeUnknown = "unknown"

// typeLabel is the label `type`: the message types that clients send.
func typeLabel(t dhcpv4.MessageType) string {
	switch t {
	case dhcpv4.MessageTypeDiscover:
		return "discover"
	case dhcpv4.MessageTypeRequest:
		return "request"
	case dhcpv4.MessageTypeDecline:
		return "decline"
	case dhcpv4.MessageTypeRelease:
		return "release"
	case dhcpv4.MessageTypeInform:
		return "inform"
	}
	return typeUnknown
}

type metrics struct {
	packets    *prometheus.CounterVec
	latency    prometheus.Histogram
	drops      prometheus.Counter
	sendErrors prometheus.Counter
	probes     *prometheus.CounterVec
	loops      *prometheus.CounterVec
	foreign    *prometheus.CounterVec
	gauges     []prometheus.Collector
}

// gauged are the values that are read when somebody asks.
type gauged struct{ leases, resting, strangers func() float64 }

func newMetrics(segment string, g gauged) *metrics {
	constant := prometheus.Labels{"segment": segment}
	gauge := func(name, help string, f func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, ConstLabels: constant, Help: help}, f)
	}
	return &metrics{
		packets: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_dhcp_packets_total", ConstLabels: constant,
			Help: "DHCPv4 packets received, by message type and what became of them.",
		}, []string{"type", "result"}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "rackboot_dhcp_answer_seconds", ConstLabels: constant,
			Help:    "Time from a DHCPv4 packet's arrival to its reply's departure.",
			Buckets: prometheus.ExponentialBuckets(0.00025, 4, 8), // 0.25 ms to 4 s, EDK2's first window
		}),
		drops: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_dhcp_queue_drops_total", ConstLabels: constant,
			Help: "DHCPv4 packets dropped because the queue was full.",
		}),
		sendErrors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_dhcp_send_errors_total", ConstLabels: constant,
			Help: "DHCPv4 replies that the host could not send.",
		}),
		probes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_dhcp_probes_total", ConstLabels: constant,
			Help: "ARP probes for addresses before they were offered, by result.",
		}, []string{"result"}),
		loops: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_dhcp_boot_loops_total", ConstLabels: constant,
			Help: "Boots refused because the client had been offered the same one too often, by its class.",
		}, []string{"class"}),
		foreign: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_dhcp_foreign_messages_total", ConstLabels: constant,
			Help: "Signs of other DHCP servers on the segment, by how they were found.",
		}, []string{"how"}),
		gauges: []prometheus.Collector{
			gauge("rackboot_dhcp_leases", "DHCPv4 leases that run.", g.leases),
			gauge("rackboot_dhcp_resting_addresses", "Addresses that are not offered because they were found in use.", g.resting),
			gauge("rackboot_dhcp_foreign_servers", "Other DHCP servers seen within the last hour.", g.strangers),
		},
	}
}

func (m *metrics) all() guard.Collectors {
	return append(guard.Collectors{m.packets, m.latency, m.drops, m.sendErrors, m.probes, m.loops, m.foreign}, m.gauges...)
}
