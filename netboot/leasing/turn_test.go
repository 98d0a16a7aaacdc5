package leasing

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"

	"rackboot/protocol"
)

// waiting is a server that waits, where the first byte of a packet says so, until it is let.
type waiting struct {
	mute
	let chan struct{}

	mu     sync.Mutex
	inWork int // now
	most   int
	order  []byte // the second bytes
}

func (w *waiting) Answer(ctx context.Context, p Packet[bool]) (to netip.AddrPort, err error) {
	w.mu.Lock()
	w.inWork++
	w.most = max(w.most, w.inWork)
	w.order = append(w.order, p.Data[1])
	w.mu.Unlock()
	if p.Data[0] == 'w' {
		Waits(ctx)
		Waits(ctx) // a second time is nothing new
		<-w.let
	}
	w.mu.Lock()
	w.inWork--
	w.mu.Unlock()
	if p.Data[0] == 'p' {
		Waits(ctx)
		panic("of a packet")
	}
	return to, nil
}

// TestTurn: packets are begun in their order, one after the other; who waits lets the next one in, as many as may be in work.
// When those are all that there may be, the first that is ready goes on, and nothing is lost or begun twice.
func TestTurn(t *testing.T) {
	for _, row := range []struct {
		name        string
		packets     string // w waits, p panics after it gave its turn away
		most        int
		begun, peak int // before they are let
	}{
		{"nobody waits", "........", 4, 8, 1},
		{"some wait", "w.w..w..", 4, 8, 4},
		{"all that may", "wwww....", 4, 4, 4},
		{"one may be in work", "w.......", 1, 1, 1},
		{"a panic behind the turn", "p.p.w.p.", 2, 8, 2},
		{"more wait than may", "wwwwwwww", 3, 3, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &waiting{let: make(chan struct{})}
			q := NewQueue(s, testMetrics(), slog.New(slog.DiscardHandler))
			packets := &quiet{end: make(chan struct{})}
			for i, kind := range []byte(row.packets) {
				packets.packets = append(packets.packets, [2]byte{kind, byte(i)})
			}
			done := make(chan error)
			go func() { done <- q.Run(t.Context(), row.most, packets, func() {}) }()
			synctest.Wait()
			if len(s.order) != row.begun || s.most != row.peak {
				t.Errorf("%s: %d begun, at most %d in work, want %d and %d", row.name, len(s.order), s.most, row.begun, row.peak)
			}
			close(s.let)
			synctest.Wait() // else the queue is closed before all of it is begun, which is no loss
			if len(s.order) != len(row.packets) || s.most > row.most || s.inWork != 0 {
				t.Errorf("%s: begun %v, at most %d in work, %d left", row.name, s.order, s.most, s.inWork)
			}
			for i, n := range s.order {
				if int(n) != i && row.most == 1 {
					t.Errorf("%s: begun in the order %v", row.name, s.order)
					break
				}
			}
			close(packets.end)
			if err := <-done; protocol.CodeOf(err) != protocol.CodeUnavailable {
				t.Error(err)
			}
		})
	}
}
