package dhcp

import (
	"net"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

const (
	portServer = 67
	portClient = 68
	portBoot   = 4011 // PXE 2.1 section 2.2.4: boot servers
)

// reply is a message and its way to the client. Without a message there is none.
type reply struct {
	raw []byte
	to  netip.AddrPort
	// mac, if set, is where a frame with destination to must go: the client does not
	// have its address yet, and cannot be asked for it by ARP.
	mac net.HardwareAddr
	// from is the source of that frame: our own address, whatever siaddr is.
	from netip.AddrPort
}

// everybody is the limited broadcast address, at the port of clients.
func everybody() netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{255, 255, 255, 255}), portClient)
}

// route is RFC 2131 section 4.1. A relay always listens on port 67, whatever port it
// sent from, unless it says otherwise by RFC 8357. A client of the boot server's port
// is answered at the port it sent from: 68 with old ROMs, 4011 with others.
func route(r *request, p *dhcpv4.DHCPv4, raw []byte) reply {
	kind, yiaddr, ours := p.MessageType(), addr4(p.YourIPAddr.To4()), addr4(p.Options.Get(dhcpv4.OptionServerIdentifier))
	switch {
	case r.giaddr.IsValid() && r.relay.sourcePort:
		return reply{raw: raw, to: netip.AddrPortFrom(r.giaddr, r.peer.Port())}
	case r.giaddr.IsValid():
		return reply{raw: raw, to: netip.AddrPortFrom(r.giaddr, portServer)}
	case r.boot && r.ciaddr.IsValid():
		return reply{raw: raw, to: netip.AddrPortFrom(r.ciaddr, r.peer.Port())}
	case r.boot:
		return reply{raw: raw, to: r.peer}
	case kind == dhcpv4.MessageTypeNak:
		return reply{raw: raw, to: everybody()}
	case r.ciaddr.IsValid():
		return reply{raw: raw, to: netip.AddrPortFrom(r.ciaddr, portClient)}
	case !r.broadcast() && yiaddr.IsValid():
		return reply{raw: raw, to: netip.AddrPortFrom(yiaddr, portClient), mac: r.ClientHWAddr, from: netip.AddrPortFrom(ours, portServer)}
	}
	return reply{raw: raw, to: everybody()}
}
