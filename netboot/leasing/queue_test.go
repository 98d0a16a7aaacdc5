package leasing

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/protocol"
)

func none() int { return 0 }

func testMetrics() *Metrics {
	return NewMetrics("rack1", Words{Server: "test server", Protocol: "test", Packet: "packet", Client: "client", Addresses: "Addresses"}, none, none)
}

// mute has no reply.
type mute struct{}

func (mute) Answer(context.Context, Packet[bool]) (to netip.AddrPort, err error) { return to, nil }

// Asker implements Server: the first two bytes.
func (mute) Asker(data []byte, _ netip.AddrPort) (a Asker) {
	a.Client[0], a.Kind = data[0], data[1]
	return a
}

// Writes implements Server.
func (mute) Writes(Asker) bool { return false }

// slow answers nothing before it is let, of the packets that write.
type slow struct {
	mute
	let      chan struct{}
	answered chan byte // the kind
}

func (s slow) Answer(_ context.Context, p Packet[bool]) (to netip.AddrPort, err error) {
	if s.Writes(Asker{Kind: p.Data[1]}) {
		<-s.let
	}
	s.answered <- p.Data[1]
	return to, nil
}

// Writes implements Server.
func (slow) Writes(a Asker) bool { return a.Kind == 3 }

// quiet is a script whose socket breaks later.
type quiet struct {
	script
	end chan struct{}
}

func (s *quiet) ReadFrom(b []byte) (n int, from netip.AddrPort, mark bool, err error) {
	if len(s.packets) == 0 {
		<-s.end
	}
	n, _, mark, err = s.script.ReadFrom(b)
	return n, netip.MustParseAddrPort("10.0.0.1:68"), mark, err
}

// TestNobodyWaitsForOthersDisk: packets that wait for the disk, more than there are workers and more
// than a queue holds, keep none of the others waiting and take none of their room.
func TestNobodyWaitsForOthersDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slow{let: make(chan struct{}), answered: make(chan byte, 2*QueueLength)}
		q := NewQueue(s, testMetrics(), slog.New(slog.DiscardHandler))
		packets := &quiet{end: make(chan struct{})}
		for i := range 2 * QueueLength {
			packets.packets = append(packets.packets, [2]byte{byte(i), 3})
		}
		for i := range 100 {
			packets.packets = append(packets.packets, [2]byte{byte(i), 1})
		}
		done := make(chan error)
		go func() { done <- q.Run(t.Context(), 4, packets, func() {}) }()
		synctest.Wait()
		if n := len(s.answered); n != 100 {
			t.Errorf("%d of 100 are answered while others wait", n)
		}
		close(s.let)
		close(packets.end)
		if err := <-done; protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Error(err)
		}
	})
}

// TestShare: of who sends thousands there are half of the queue's packets; the others' come through, and
// the same client's of another kind. Who says nothing of itself is taken as long as there is room.
func TestShare(t *testing.T) {
	const room = 64
	for _, row := range []struct {
		name string
		then [2]byte
		want int
	}{
		{"another client", [2]byte{'b', 1}, 5},
		{"the same client, another kind", [2]byte{'a', 3}, 5},
		{"the same", [2]byte{'a', 1}, 0},
		{"nobody", [2]byte{}, 5},
	} {
		synctest.Test(t, func(t *testing.T) { // where all of it happens within one second
			m := testMetrics()
			q := NewQueue(mute{}, m, slog.New(slog.DiscardHandler))
			q.packets = make(chan Packet[bool], room)
			s := &script{}
			for range 10_000 {
				s.packets = append(s.packets, [2]byte{'a', 1})
			}
			for range 5 {
				s.packets = append(s.packets, row.then)
			}
			if err := q.Read(t.Context(), s); protocol.CodeOf(err) != protocol.CodeUnavailable {
				t.Fatal(err)
			}
			close(q.packets)
			got, all := 0, 0
			for p := range q.packets {
				if all++; all > room/2 && [2]byte(p.Data) == row.then {
					got++
				}
			}
			if got != row.want || all != room/2+row.want {
				t.Errorf("%s: %d packets in a queue of %d, %d of them the others'", row.name, all, room, got)
			}
			if n := testutil.ToFloat64(m.Drops); int(n) != 10_005-all {
				t.Errorf("%s: %v dropped", row.name, n)
			}
		})
	}
}

// script is a socket that has some packets and breaks.
type script struct{ packets [][2]byte }

func (s *script) LocalAddr() net.Addr { return &net.UDPAddr{} }

func (s *script) ReadFrom(b []byte) (n int, from netip.AddrPort, mark bool, err error) {
	if len(s.packets) == 0 {
		return 0, from, false, net.ErrClosed
	}
	n = copy(b, s.packets[0][:])
	s.packets = s.packets[1:]
	return n, from, false, nil
}

// TestStrangersUseUpNoShare: clients that share a slot of what is remembered do not share what they may send.
func TestStrangersUseUpNoShare(t *testing.T) {
	s, at := newShares(), time.Unix(1, 0)
	for i := range 4 * sharers {
		a := Asker{Client: [16]byte{byte(i), byte(i >> 8), byte(i >> 16)}, Kind: 1}
		if !s.allow(a, at) {
			t.Fatalf("the first packet of client %d is beyond its share", i)
		}
	}
}

// TestQueueIsFull: what does not fit is dropped and counted.
func TestQueueIsFull(t *testing.T) {
	m := testMetrics()
	q := NewQueue(mute{}, m, slog.New(slog.DiscardHandler))
	q.packets = make(chan Packet[bool], 1)
	err := q.Read(t.Context(), &burst{left: 3})
	if n := testutil.ToFloat64(m.Drops); n != 2 || protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("%v dropped, then %v", n, err)
	}
}

// burst is a socket that breaks after some messages.
type burst struct{ left int }

func (b *burst) LocalAddr() net.Addr { return &net.UDPAddr{} }

func (b *burst) ReadFrom([]byte) (n int, from netip.AddrPort, mark bool, err error) {
	if b.left--; b.left < 0 {
		return 0, from, false, net.ErrClosed
	}
	return 4, netip.MustParseAddrPort("[::1]:546"), true, nil
}
