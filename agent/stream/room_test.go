package stream

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
)

// source is a BMC's event stream: events come by hand, and err ends it.
type source struct {
	opened atomic.Int64
	open   atomic.Int64
	events chan struct{}
	err    chan error
}

func newSource() *source { return &source{events: make(chan struct{}), err: make(chan error)} }

// Events implements bmc.EventSource.
func (x *source) Events(ctx context.Context, wake func()) error {
	x.opened.Add(1)
	x.open.Add(1)
	defer x.open.Add(-1)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-x.err:
			return err
		case <-x.events:
			wake()
		}
	}
}

// server counts how often it was woken since the last look: once at most.
type server struct {
	name  string
	woken chan struct{}
}

func (s *server) Name() string { return s.name }

func (s *server) Woken() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

func (s *server) pokes() bool {
	select {
	case <-s.woken:
		return true
	default:
		return false
	}
}

// reached is where every BMC sends events to.
type reached struct{}

func (reached) Destination(string, string) (string, error) { return "http://10.0.0.1", nil }

func streaming(t *testing.T) (*Room, func(name string) *server) {
	t.Helper()
	x := New(Config{
		Destination: reached{}, NewID: rand.Text, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	return x, func(name string) *server { return &server{name, make(chan struct{}, 1)} }
}

func opened(x *Room) int {
	n, _ := x.count()
	return n
}

// TestStreams: the systems behind a BMC share one stream, events wake all of them and
// not too often, a stream that ends is opened again with growing pauses, and it is over
// when the driver that reads it is closed.
func TestStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, server := streaming(t)
		one, two := server("one"), server("two")
		src, other := newSource(), newSource()
		const address = "https://10.0.0.1"
		for range 3 {
			x.Follow(t.Context(), address, src, one)
			x.Follow(t.Context(), address, other, two)
		}
		synctest.Wait()
		if src.opened.Load() != 1 || other.opened.Load() != 0 || opened(x) != 1 {
			t.Fatalf("%d and %d streams were opened", src.opened.Load(), other.opened.Load())
		}
		src.events <- struct{}{}
		synctest.Wait()
		if !one.pokes() || !two.pokes() {
			t.Error("an event did not wake both")
		}
		for range 20 {
			src.events <- struct{}{}
		}
		synctest.Wait()
		if one.pokes() {
			t.Error("woken again at once")
		}
		time.Sleep(wakePause)
		synctest.Wait()
		if !one.pokes() {
			t.Error("the later events woke nobody")
		}

		for range 12 {
			src.err <- protocol.Errorf(protocol.CodeUnavailable, "events", "it ended")
			began := time.Now()
			for n := src.opened.Load(); src.opened.Load() == n; time.Sleep(100 * time.Millisecond) { // simulated time
				synctest.Wait()
			}
			if d := time.Since(began); d < streamPauseMin/2 || d > streamPauseMax*3/2+time.Second {
				t.Fatalf("opened again after %s", d)
			}
		}

		x.Leave(address, one)
		if src.open.Load() != 0 {
			t.Fatal("the stream is read after its driver's end")
		}
		x.Follow(t.Context(), address, other, two)
		synctest.Wait()
		if other.open.Load() != 1 {
			t.Error("the other system's driver does not go on")
		}
		other.err <- protocol.Errorf(protocol.CodeUnsupported, "events", "there are none")
		synctest.Wait()
		time.Sleep(time.Hour)
		x.Follow(t.Context(), address, other, two)
		synctest.Wait()
		if other.opened.Load() != 1 || opened(x) != 0 {
			t.Error("a BMC without a stream is asked again")
		}
		x.Leave(address, two)
		x.Leave(address, two)
	})
}

// TestJitter: ± 20 %, and not always the same.
func TestJitter(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 1000 {
		d := jitter(15 * time.Second)
		if d < 12*time.Second || d >= 18*time.Second {
			t.Fatal(d)
		}
		seen[d] = true
	}
	if len(seen) < 100 {
		t.Errorf("%d values", len(seen))
	}
}
