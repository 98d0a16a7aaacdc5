package dhcp6

import (
	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot/leasing"
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
	resultPanic        = leasing.ResultPanic
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
	typeUnknown = leasing.TypeUnknown
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

// metrics are also those that only this version has.
type metrics struct {
	*leasing.Metrics
	spoofed *prometheus.CounterVec
}

func newMetrics(s *Server) *metrics {
	m := leasing.NewMetrics(s.cfg.Segment, leasing.Words{
		Server: "DHCPv6 server", Protocol: "DHCPv6", Packet: "message", Client: "DHCPv6 client", Addresses: "IPv6 addresses",
		Names: leasing.Names{
			Packets: "rackboot_dhcp6_packets_total", Seconds: "rackboot_dhcp6_answer_seconds", Drops: "rackboot_dhcp6_queue_drops_total", SendErrors: "rackboot_dhcp6_send_errors_total",
			Loops: "rackboot_dhcp6_boot_loops_total", Leases: "rackboot_dhcp6_leases", Resting: "rackboot_dhcp6_resting_addresses",
		},
	}, func() int { return s.pool.Count(leasing.Leased, s.now()) }, func() int { return s.pool.Count(leasing.Declined, s.now()) })
	m.Gauge("rackboot_dhcp6_routers", "Routers whose advertisements were seen on the segment lately.", func() int { return len(s.routers.now(s.now())) })
	return &metrics{m, m.Counter("rackboot_dhcp6_spoofed_total", "Neighbour advertisements by which a machine uses an address of another, by whose that is.", "whose")}
}
