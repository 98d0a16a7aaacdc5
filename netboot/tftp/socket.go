package tftp

import (
	"net"
	"net/netip"
	"time"
)

// socket is where packets of one transfer go out and come in. *net.UDPConn is
// one, and its methods with netip do not allocate.
type socket interface {
	ReadFromUDPAddrPort(b []byte) (n int, from netip.AddrPort, err error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error)
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
	Close() error
}

// door is where requests come in.
type door interface {
	// next waits for a packet. local is our address that it was sent to, or, if it
	// was sent to many, that of the interface it came by; the zero Addr if unknown.
	next(b []byte) (n int, from netip.AddrPort, local netip.Addr, err error)
	// open opens a socket with a port of its own, which is the server's transfer
	// identifier (RFC 1350 section 4), on local.
	open(local netip.Addr) (socket, error)
	LocalAddr() net.Addr
	Close() error
}

// packetDoor is a door over a Config's Conn.
type packetDoor struct {
	net.PacketConn
	opener func(local netip.Addr) (net.PacketConn, error)
}

func (d *packetDoor) next(b []byte) (int, netip.AddrPort, netip.Addr, error) {
	n, from, err := d.ReadFrom(b)
	return n, addrPort(from), addrPort(d.LocalAddr()).Addr(), err
}

func (d *packetDoor) open(local netip.Addr) (socket, error) {
	c, err := d.opener(local)
	if err != nil {
		return nil, err
	}
	if s, ok := c.(socket); ok {
		return s, nil
	}
	return packetSocket{c}, nil
}

// packetSocket makes a socket of any PacketConn.
type packetSocket struct{ net.PacketConn }

func (s packetSocket) ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error) {
	n, from, err := s.ReadFrom(b)
	return n, addrPort(from), err
}

func (s packetSocket) WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error) {
	return s.WriteTo(b, net.UDPAddrFromAddrPort(to))
}

// addrPort is the zero AddrPort for what is no UDP address.
func addrPort(a net.Addr) netip.AddrPort {
	if u, ok := a.(*net.UDPAddr); ok {
		return unmap(u.AddrPort())
	}
	return netip.AddrPort{}
}

func unmap(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }
