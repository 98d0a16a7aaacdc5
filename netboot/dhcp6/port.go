package dhcp6

import (
	"net"
	"net/netip"
)

// port is a UDP socket that says whether a datagram was sent to a multicast address.
type port interface {
	ReadFrom(b []byte) (n int, from netip.AddrPort, multicast bool, err error)
	WriteTo(b []byte, to netip.AddrPort) error
	LocalAddr() net.Addr
	Close() error
}

// plainPort is a PacketConn whose datagrams were all sent to a multicast address.
type plainPort struct{ net.PacketConn }

func (p plainPort) ReadFrom(b []byte) (int, netip.AddrPort, bool, error) {
	n, from, err := p.PacketConn.ReadFrom(b)
	return n, addrPort(from), true, err
}

func (p plainPort) WriteTo(b []byte, to netip.AddrPort) error {
	_, err := p.PacketConn.WriteTo(b, net.UDPAddrFromAddrPort(to))
	return err
}

func addrPort(a net.Addr) netip.AddrPort {
	if u, ok := a.(*net.UDPAddr); ok {
		return u.AddrPort()
	}
	return netip.AddrPort{}
}
