package dhcp

import (
	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/prometheus/client_golang/prometheus"
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
	leases     prometheus.GaugeFunc
}

func newMetrics(segment string, leases func() float64) *metrics {
	constant := prometheus.Labels{"segment": segment}
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
		leases: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "rackboot_dhcp_leases", ConstLabels: constant,
			Help: "DHCPv4 leases that run.",
		}, leases),
	}
}

func (m *metrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.packets, m.latency, m.drops, m.sendErrors, m.leases}
}

func (m *metrics) register(r prometheus.Registerer) error {
	if r == nil {
		return nil
	}
	for i, c := range m.all() {
		if err := r.Register(c); err != nil {
			for _, done := range m.all()[:i] {
				r.Unregister(done)
			}
			return err
		}
	}
	return nil
}

func (m *metrics) unregister(r prometheus.Registerer) {
	if r == nil {
		return
	}
	for _, c := range m.all() {
		r.Unregister(c)
	}
}
