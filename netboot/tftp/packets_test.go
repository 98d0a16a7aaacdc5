package tftp

import (
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"
)

// packetNet carries datagrams in memory, made of channels and timers only, so that
// it works inside a bubble of simulated time.
type packetNet struct {
	// link says when the copies of a packet arrive; none is a lost packet. Nil is a
	// perfect network. It is called under a lock.
	link func(from, to netip.AddrPort, b []byte) []time.Duration
	// tap, if set, sees each packet that is sent. It is called under the same lock.
	tap func(from, to netip.AddrPort, b []byte)

	mu   sync.Mutex
	ends map[netip.AddrPort]*end
	next uint16
	sent time.Duration // a nanosecond each, so that packets with equal delays keep their order
}

type datagram struct {
	from netip.AddrPort
	b    []byte
}

// end is a socket of the network.
type end struct {
	net    *packetNet
	addr   netip.AddrPort
	inbox  chan datagram
	closed chan struct{}
	once   sync.Once

	mu     sync.Mutex
	timer  *time.Timer
	cancel chan struct{} // closed at the read deadline
}

func newPacketNet() *packetNet { return &packetNet{ends: make(map[netip.AddrPort]*end), next: 40000} }

// open opens a socket; port 0 is any.
func (n *packetNet) open(a netip.Addr, port uint16) *end {
	n.mu.Lock()
	defer n.mu.Unlock()
	if port == 0 {
		n.next++
		port = n.next
	}
	e := &end{
		net: n, addr: netip.AddrPortFrom(a, port), inbox: make(chan datagram, 1024),
		closed: make(chan struct{}), cancel: make(chan struct{}),
	}
	n.ends[e.addr] = e
	return e
}

func (n *packetNet) opener(local netip.Addr) (net.PacketConn, error) { return n.open(local, 0), nil }

// send delivers the copies of a packet. Like UDP it says nothing of a loss.
func (n *packetNet) send(from, to netip.AddrPort, b []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.tap != nil {
		n.tap(from, to, b)
	}
	delays := []time.Duration{0}
	if n.link != nil {
		delays = n.link(from, to, b)
	}
	p := datagram{from, slices.Clone(b)}
	for _, d := range delays {
		if d == 0 {
			n.ends[to].take(p)
			continue
		}
		n.sent++
		time.AfterFunc(d+n.sent, func() {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.ends[to].take(p)
		})
	}
}

// take drops what finds no socket or a full one.
func (e *end) take(p datagram) {
	if e == nil {
		return
	}
	select {
	case e.inbox <- p:
	default:
	}
}

func (e *end) WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error) {
	select {
	case <-e.closed:
		return 0, net.ErrClosed
	default:
	}
	e.net.send(e.addr, to, b)
	return len(b), nil
}

func (e *end) ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error) {
	e.mu.Lock()
	cancel := e.cancel
	e.mu.Unlock()
	select {
	case <-cancel: // also where there is a packet, like the kernel's
		return 0, netip.AddrPort{}, os.ErrDeadlineExceeded
	default:
	}
	select {
	case <-e.closed:
		return 0, netip.AddrPort{}, net.ErrClosed
	case <-cancel:
		return 0, netip.AddrPort{}, os.ErrDeadlineExceeded
	case p := <-e.inbox:
		return copy(b, p.b), p.from, nil
	}
}

func (e *end) SetReadDeadline(t time.Time) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.timer != nil {
		e.timer.Stop()
	}
	select {
	case <-e.cancel:
		e.cancel = make(chan struct{})
	default:
	}
	if cancel := e.cancel; time.Until(t) <= 0 {
		close(cancel)
		e.timer = nil
	} else {
		e.timer = time.AfterFunc(time.Until(t), func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			select {
			case <-cancel:
			default:
				close(cancel)
			}
		})
	}
	return nil
}

func (e *end) Close() error {
	e.once.Do(func() {
		close(e.closed)
		e.net.mu.Lock()
		defer e.net.mu.Unlock()
		delete(e.net.ends, e.addr)
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.timer != nil {
		e.timer.Stop()
	}
	return nil
}

func (e *end) SetWriteDeadline(time.Time) error { return nil }
func (e *end) SetDeadline(t time.Time) error    { return e.SetReadDeadline(t) }
func (e *end) LocalAddr() net.Addr              { return net.UDPAddrFromAddrPort(e.addr) }

func (e *end) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := e.ReadFromUDPAddrPort(b)
	return n, net.UDPAddrFromAddrPort(from), err
}

func (e *end) WriteTo(b []byte, to net.Addr) (int, error) {
	return e.WriteToUDPAddrPort(b, addrPort(to))
}
