package heartbeat

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"rackboot/protocol/message"
	"rackboot/protocol/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func key(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// wires carry datagrams between addresses, but those that are cut.
type wires struct {
	mu  sync.Mutex
	at  map[string]*end
	cut bool
	saw [][]byte
}

type end struct {
	net.PacketConn
	w    *wires
	in   chan []byte
	gone chan struct{}
	once sync.Once
}

var errClosed = errors.New("closed")

func (w *wires) open(l Line) (net.PacketConn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := &end{w: w, in: make(chan []byte, 16), gone: make(chan struct{})}
	w.at[l.Listen.String()] = e
	return e, nil
}

func (w *wires) sever(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
}

func (e *end) WriteTo(p []byte, to net.Addr) (int, error) {
	e.w.mu.Lock()
	defer e.w.mu.Unlock()
	e.w.saw = append(e.w.saw, append([]byte{}, p...))
	if other := e.w.at[to.String()]; other != nil && !e.w.cut {
		select {
		case other.in <- append([]byte{}, p...):
		default:
		}
	}
	return len(p), nil
}

func (e *end) ReadFrom(p []byte) (int, net.Addr, error) {
	select {
	case b := <-e.in:
		return copy(p, b), nil, nil
	case <-e.gone:
		return 0, nil, errClosed
	}
}

func (e *end) SetWriteDeadline(time.Time) error { return nil }

func (e *end) Close() error {
	e.once.Do(func() { close(e.gone) })
	return nil
}

func pair(w *wires) (a, b *Room) {
	one, two := netip.MustParseAddrPort("10.7.0.2:7420"), netip.MustParseAddrPort("10.7.0.3:7420")
	room := func(name, twin string, listen, peer netip.AddrPort) *Room {
		t := message.TwinIntent{Agent: twin, Key: key(twin).Public().(ed25519.PublicKey)}
		return New(Config{
			Agent: name, Rack: "r1", Run: "run of " + name, Signer: wire.NewSigner(key(name)), Lines: []Line{{Segment: "boot", Listen: listen, Peer: peer}}, Open: w.open,
			Twin: func() (message.TwinIntent, bool) { return t, true }, Clock: time.Now, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
		})
	}
	return room("r1-1", "r1-2", one, two), room("r1-2", "r1-1", two, one)
}

// last is the number of a room's last beat.
func last(r *Room) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seq
}

// TestRooms: two agents on one segment hear each other; a cut, and words of a third, of another segment and of the past
// do not.
func TestRooms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wires{at: map[string]*end{}}
		a, b := pair(w)
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		for _, r := range []*Room{a, b} {
			if err := r.Listen(); err != nil {
				t.Fatal(err)
			}
			done.Go(func() { _ = r.Run(ctx) })
		}
		time.Sleep(90 * time.Second)
		for _, r := range []*Room{a, b} {
			if h := r.Heard(); len(h) != 1 || h[0].Segment != "boot" || h[0].For < message.BeatLong || h[0].Ago > 2*time.Second {
				t.Errorf("%s hears %+v", r.cfg.Agent, h)
			}
		}
		w.sever(true)
		time.Sleep(20 * time.Second)
		played := func() {
			w.mu.Lock()
			saw := w.saw
			w.mu.Unlock()
			for _, p := range saw {
				a.take(a.cfg.Lines[0], p)
			}
		}
		played()
		forged := func(k string, b message.Beat) {
			data, err := wire.Seal(wire.NewSigner(key(k)), wire.FactBeat, b)
			if err != nil {
				t.Fatal(err)
			}
			a.take(a.cfg.Lines[0], data)
		}
		good := message.Beat{Rack: "r1", Agent: "r1-2", Segment: "boot", Run: "run of r1-2", Seq: 1 << 40, Echo: "run of r1-1", EchoSeq: last(a)}
		other := func(change func(*message.Beat)) message.Beat {
			b := good
			change(&b)
			return b
		}
		forged("somebody", good)
		forged("r1-2", other(func(b *message.Beat) { b.Segment = "bmc" }))
		forged("r1-2", other(func(b *message.Beat) { b.Rack = "r2" }))
		forged("r1-2", other(func(b *message.Beat) { b.Agent = "r1-3" }))
		forged("r1-2", other(func(b *message.Beat) { b.EchoSeq = last(a) - echoWindow - 1 }))
		forged("r1-2", other(func(b *message.Beat) { b.EchoSeq = last(a) + 1 }))
		if h := a.Heard(); len(h) != 1 || h[0].Ago < 15*time.Second {
			t.Errorf("after a cut it hears %+v", h)
		}
		w.sever(false)
		time.Sleep(message.BeatLong + 5*time.Second)
		if h := a.Heard(); len(h) != 1 || h[0].For < message.BeatLong {
			t.Errorf("after the cut it hears %+v", h)
		}
		cancel()
		done.Wait()
	})
}

// FuzzTake: whatever comes by UDP is no word of the twin unless it signed it.
func FuzzTake(f *testing.F) {
	a, b := pair(&wires{at: map[string]*end{}})
	good, err := wire.Seal(b.cfg.Signer, wire.FactBeat, message.Beat{Rack: "r1", Agent: "r1-2", Segment: "boot", Run: "x", Seq: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte{})
	f.Add(good[:40])
	f.Fuzz(func(t *testing.T, data []byte) {
		a.take(a.cfg.Lines[0], data)
		if h := a.Heard(); len(h) != 0 {
			t.Errorf("%x is heard: %+v", data, h)
		}
	})
}
