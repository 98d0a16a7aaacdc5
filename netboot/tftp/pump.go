package tftp

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// packetDoor is a door over a Config's Conn. Each of its sockets has a goroutine that
// reads, since a net.PacketConn has no other way.
type packetDoor struct {
	net.PacketConn
	opener func(local netip.Addr) (net.PacketConn, error)
}

func (d *packetDoor) next(b []byte) (int, netip.AddrPort, netip.Addr, error) {
	n, from, err := d.ReadFrom(b)
	return n, addrPort(from), addrPort(d.LocalAddr()).Addr(), err
}

func (d *packetDoor) open(local netip.Addr, _ netip.AddrPort) (socket, error) {
	c, err := d.opener(local)
	if err != nil {
		return nil, err
	}
	return &packetSocket{PacketConn: c, closed: make(chan struct{})}, nil
}

func (d *packetDoor) poller() (poller, error) {
	return &pumps{arrived: make(chan arrival), woken: make(chan struct{}, 1)}, nil
}

// packetSocket makes a socket of any PacketConn.
type packetSocket struct {
	net.PacketConn
	closed chan struct{}
	come   []arrival // not received yet
}

func (s *packetSocket) receive(b []byte) (int, netip.AddrPort, error) {
	if len(s.come) == 0 {
		return 0, netip.AddrPort{}, errNothing
	}
	a := s.come[0]
	s.come = s.come[1:]
	return copy(b, a.b), a.from, nil
}

func (s *packetSocket) send(b []byte, size int, to netip.AddrPort) error {
	for p := range slices.Chunk(b, size) {
		if _, err := s.WriteTo(p, net.UDPAddrFromAddrPort(to)); err != nil {
			return err
		}
	}
	return nil
}

func (s *packetSocket) Close() error {
	close(s.closed)
	return s.PacketConn.Close()
}

// arrival is a packet to a socket.
type arrival struct {
	to   *packetSocket
	b    []byte
	from netip.AddrPort
}

// pumps is the poller of packetSockets.
type pumps struct {
	arrived chan arrival
	woken   chan struct{}
	running sync.WaitGroup
	ready   []socket
}

func (p *pumps) add(of socket) error {
	s := of.(*packetSocket) // as its door opens them
	p.running.Go(func() {
		b := make([]byte, maxRequest)
		for {
			n, from, err := s.ReadFrom(b)
			if err != nil {
				return // closed: the transfer has ended, or its timer ends it
			}
			select {
			case p.arrived <- arrival{s, slices.Clone(b[:n]), addrPort(from)}:
			case <-s.closed:
				return
			}
		}
	})
	return nil
}

func (*pumps) remove(socket) {}

func (p *pumps) wait(until time.Time) []socket {
	p.ready = p.ready[:0]
	var over <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		over = timer.C
	}
	select {
	case a := <-p.arrived:
		a.to.come = append(a.to.come, a)
		p.ready = append(p.ready, a.to)
	case <-p.woken:
	case <-over:
	}
	return p.ready
}

func (p *pumps) wake() {
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

// Close is called when all sockets are closed.
func (p *pumps) Close() error {
	p.running.Wait()
	return nil
}
