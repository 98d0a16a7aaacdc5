package tftp

import (
	"errors"
	"net"
	"net/netip"
	"time"
)

// errNothing says that a socket has no packet now.
var errNothing = errors.New("no packet")

// socket is where packets of one transfer go out and come in. Its methods never wait and
// do not allocate; its carrier alone calls them.
type socket interface {
	// receive takes a packet that has come, or errNothing. What b has no room for is lost.
	receive(b []byte) (n int, from netip.AddrPort, err error)
	// send sends b as packets of size bytes, the last of which may be shorter. What the
	// host does not take is lost, like what the network loses.
	send(b []byte, size int, to netip.AddrPort) error
	Close() error
}

// door is where requests come in.
type door interface {
	// next waits for a packet. local is our address that it was sent to, or, if it
	// was sent to many, that of the interface it came by; the zero Addr if unknown.
	next(b []byte) (n int, from netip.AddrPort, local netip.Addr, err error)
	// open opens a socket with a port of its own, which is the server's transfer
	// identifier (RFC 1350 section 4), on local, for a client.
	open(local netip.Addr, client netip.AddrPort) (socket, error)
	// poller makes one for sockets of this door.
	poller() (poller, error)
	LocalAddr() net.Addr
	Close() error
}

// poller waits for packets to sockets. Of its methods, wake alone is safe for concurrent use;
// the others are called by one carrier.
type poller interface {
	add(s socket) error
	// remove is called before the socket is closed.
	remove(s socket)
	// wait waits for packets, for wake and until a time, which is zero for never. It
	// returns the sockets that have a packet, until it is called again.
	wait(until time.Time) []socket
	// wake ends wait, or the next one.
	wake()
	Close() error
}

// addrPort is the zero AddrPort for what is no UDP address.
func addrPort(a net.Addr) netip.AddrPort {
	if u, ok := a.(*net.UDPAddr); ok {
		return unmap(u.AddrPort())
	}
	return netip.AddrPort{}
}

func unmap(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }
