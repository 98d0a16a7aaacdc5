package dhcp

import (
	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot/leasing"
)

// Results of a packet, the label `result` of rackboot_dhcp_packets_total; leasing.ResultPanic is
// one too.
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
)

// resultLater is no result yet: the lease is on its way to the disk.
const resultLater = ""

const typeUnknown = leasing.TypeUnknown

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

// metrics are also those that only this version has.
type metrics struct {
	*leasing.Metrics
	probes, foreign, spoofed *prometheus.CounterVec
}

func newMetrics(s *Server) *metrics {
	m := leasing.NewMetrics(s.cfg.Segment, leasing.Words{
		Server: "DHCP server", Protocol: "DHCPv4", Packet: "packet", Client: "client", Addresses: "Addresses",
		Names: leasing.Names{
			Packets: "rackboot_dhcp_packets_total", Seconds: "rackboot_dhcp_answer_seconds", Drops: "rackboot_dhcp_queue_drops_total", SendErrors: "rackboot_dhcp_send_errors_total",
			Loops: "rackboot_dhcp_boot_loops_total", Leases: "rackboot_dhcp_leases", Resting: "rackboot_dhcp_resting_addresses",
		},
	}, func() int { return s.pool.Count(leasing.Leased, s.now()) }, func() int { return s.pool.Count(leasing.Declined, s.now()) })
	m.Gauge("rackboot_dhcp_foreign_servers", "Other DHCP servers seen within the last hour.", func() int { return s.strangers.count(s.now()) })
	m.Gauge("rackboot_dhcp_leases_waiting", "Leases that were granted and wait to be written, and their ACKs with them.", s.writer.Waiting)
	return &metrics{
		Metrics: m,
		probes:  m.Counter("rackboot_dhcp_probes_total", "ARP probes for addresses before they were offered, by result.", "result"),
		foreign: m.Counter("rackboot_dhcp_foreign_messages_total", "Signs of other DHCP servers on the segment, by how they were found.", "how"),
		spoofed: m.Counter("rackboot_dhcp_spoofed_total", "ARP packets by which a machine uses an address of another, by whose that is.", "whose"),
	}
}
