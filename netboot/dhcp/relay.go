package dhcp

import (
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// Sub-options of option 82.
const (
	subCircuitID       = 1  // RFC 3046: the port
	subRemoteID        = 2  // RFC 3046: the switch, or the client's end of a line
	subLinkSelection   = 5  // RFC 3527: the subnet of the client
	subServerID        = 11 // RFC 5107: what the client is to see as option 54
	subRelaySourcePort = 19 // RFC 8357: answer to the port that the relay sent from
)

// relay is what a relay says in option 82.
type relay struct {
	link     netip.Addr // sub-option 5
	serverID netip.Addr // sub-option 11
	port     string     // as protocol.BootClient.Port
	// sourcePort says that the relay wants the answer at its source port.
	sourcePort bool
}

// parseRelay reads option 82. One that is malformed says nothing; it is echoed all
// the same, byte for byte.
func parseRelay(raw []byte) relay {
	sub := make(dhcpv4.Options)
	if sub.FromBytes(raw) != nil {
		return relay{}
	}
	return relay{
		link:       addr4(sub[subLinkSelection]),
		serverID:   addr4(sub[subServerID]),
		port:       portName(sub),
		sourcePort: sub.Has(dhcpv4.GenericOptionCode(subRelaySourcePort)),
	}
}

// otherSubnet says that the packet comes from a subnet that is not the segment's:
// link selection first (RFC 3527), then option 118 (RFC 3011), then the relay's own
// address. A relay at a loopback address is a client on this host (a simulated one)
// and stands on the segment that it was pointed at; from anywhere else such an
// address is forged, and answering it would reach the host's own ports.
func (r *request) otherSubnet(prefix netip.Prefix) bool {
	switch {
	case r.giaddr.IsLoopback() && !r.peer.Addr().IsLoopback():
		return true
	case r.relay.link.IsValid():
		return !prefix.Contains(r.relay.link)
	case r.subnet.IsValid():
		return !prefix.Contains(r.subnet)
	case r.giaddr.IsValid() && !r.giaddr.IsLoopback():
		return !prefix.Contains(r.giaddr)
	}
	return false
}

// strange says that a client says it has an address that is neither on the network
// nor where its packet came from. It is not answered there: whoever forges a packet
// could have us send to anybody.
func (r *request) strange(prefix netip.Prefix) bool {
	return r.ciaddr.IsValid() && !prefix.Contains(r.ciaddr) && r.ciaddr != r.peer.Addr()
}

// serverID is what the client is to see as option 54, and says when it means us:
// our address, or the relay's, through which renewals are to come (RFC 5107).
func (r *request) serverID(ours netip.Addr) netip.Addr {
	if r.relay.serverID.IsValid() {
		return r.relay.serverID
	}
	return ours
}
