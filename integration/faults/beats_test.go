package faults

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"rackboot/agent/heartbeat"
)

// beats are the segments on which two agents of a rack hear each other, each by the addresses of a line.
type beats struct {
	mu   sync.Mutex
	at   map[netip.AddrPort]*socket
	cuts map[string]bool // by segment
}

// lineOf is that of one of the two hosts on a segment.
func lineOf(segment string, first bool) heartbeat.Line {
	net := map[string]string{"boot": "10.7.0.", "bmc": "10.8.0."}[segment]
	l := heartbeat.Line{Segment: segment, Listen: netip.MustParseAddrPort(net + "2:7420"), Peer: netip.MustParseAddrPort(net + "3:7420")}
	if !first {
		l.Listen, l.Peer = l.Peer, l.Listen
	}
	return l
}

func (b *beats) open(l heartbeat.Line) (net.PacketConn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at == nil {
		b.at, b.cuts = map[netip.AddrPort]*socket{}, map[string]bool{}
	}
	s := &socket{beats: b, line: l, in: make(chan []byte, 16), gone: make(chan struct{})}
	b.at[l.Listen] = s
	return s, nil
}

func (b *beats) cut(segment string, cut bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cuts[segment] = cut
}

// socket is an end of a line.
type socket struct {
	net.PacketConn
	beats *beats
	line  heartbeat.Line
	in    chan []byte
	gone  chan struct{}
	once  sync.Once
}

func (s *socket) WriteTo(p []byte, to net.Addr) (int, error) {
	select {
	case <-s.gone:
		return 0, net.ErrClosed
	default:
	}
	s.beats.mu.Lock()
	defer s.beats.mu.Unlock()
	if other := s.beats.at[to.(*net.UDPAddr).AddrPort()]; other != nil && !s.beats.cuts[s.line.Segment] {
		select {
		case other.in <- append([]byte{}, p...):
		default:
		}
	}
	return len(p), nil
}

func (s *socket) ReadFrom(p []byte) (int, net.Addr, error) {
	select {
	case b := <-s.in:
		return copy(p, b), nil, nil
	case <-s.gone:
		return 0, nil, net.ErrClosed
	}
}

func (*socket) SetWriteDeadline(time.Time) error { return nil }

func (s *socket) Close() error {
	s.once.Do(func() { close(s.gone) })
	return nil
}
