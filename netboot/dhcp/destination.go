package dhcp

import (
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

const (
	portServer = 67
	portClient = 68
)

// destination is where the reply goes (RFC 2131 section 4.1). A relay always
// listens on port 67, whatever port it sent from, unless it says otherwise by
// RFC 8357. A client without an address whose broadcast bit is clear would get a
// frame to its chaddr; that needs a raw socket, so it gets a broadcast as well,
// which RFC 2131 allows where unicast is not possible.
func destination(r *request, kind dhcpv4.MessageType) netip.AddrPort {
	switch {
	case r.giaddr.IsValid() && r.relay.sourcePort:
		return netip.AddrPortFrom(r.giaddr, r.peer.Port())
	case r.giaddr.IsValid():
		return netip.AddrPortFrom(r.giaddr, portServer)
	case kind != dhcpv4.MessageTypeNak && r.ciaddr.IsValid():
		return netip.AddrPortFrom(r.ciaddr, portClient)
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{255, 255, 255, 255}), portClient)
}
