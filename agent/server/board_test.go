package server

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

// TestLoggedIn: a new session makes the boards of the servers behind that BMC be read,
// unless they just were.
func TestLoggedIn(t *testing.T) {
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	cfg := config(t)
	cfg.Clock = func() time.Time { return now }
	room, loops := New(cfg), NewLoops()
	loops.servers = map[string]*loop{"one": room.loop("one"), "two": room.loop("two"), "unread": room.loop("unread")}
	for name, address := range map[string]string{"one": "https://10.0.0.1:8443/", "two": "https://10.0.0.2"} {
		host := hostOf(address)
		loops.servers[name].board.host.Store(&host)
	}
	asked := func(name string) bool {
		b := loops.servers[name].board
		was := b.asked
		b.asked = false
		return was
	}
	look := func(host string, one, two bool) {
		t.Helper()
		loops.LoggedIn(host)
		if asked("one") != one || asked("two") != two || asked("unread") {
			t.Errorf("a session at %s: want %t, %t", host, one, two)
		}
	}
	look("10.0.0.1:8443", true, false)
	look("10.0.0.2", false, true)
	look("10.0.0.3", false, false)
	loops.servers["one"].board.at.Store(now.Add(-time.Minute).Unix())
	look("10.0.0.1:8443", false, false)
	loops.servers["one"].board.at.Store(now.Add(-time.Hour).Unix())
	look("10.0.0.1:8443", true, false)
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

// surveyed is a BMC whose board takes two seconds to read.
type surveyed struct {
	errDriver

	reads *atomic.Int64
}

// Inventory implements bmc.Inventorier.
func (s surveyed) Inventory(ctx context.Context) (protocol.Inventory, error) {
	s.reads.Add(1)
	select {
	case <-ctx.Done():
		return protocol.Inventory{}, ctx.Err()
	case <-time.After(2 * time.Second):
		return protocol.Inventory{}, nil // nothing that identifies a server
	}
}

// Close implements bmc.Driver.
func (surveyed) Close() error { return nil }

// TestBoardIsRead: who asks twice at once has it read once, who asks while it is read has it
// read again, and one that identifies nothing is read again after a pause. Nothing is read
// after the end.
func TestBoardIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64
		cfg := config(t)
		cfg.OpenBMC = func(bmc.Target) (bmc.Driver, error) { return surveyed{errDriver{}, &reads}, nil }
		document(t, cfg.Store)
		b := New(cfg).loop("n1").board
		ctx, cancel := context.WithCancel(t.Context())
		b.reread() // before it begins
		b.begin(ctx)
		b.reread()
		after := func(d time.Duration, want int64) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := reads.Load(); got != want {
				t.Fatalf("%d reads, want %d", got, want)
			}
		}
		after(boardQuiet-time.Millisecond, 0)
		after(2*time.Millisecond, 1)
		b.reread() // while it is read
		after(2*time.Second, 1)
		after(boardQuiet, 2)
		after(boardPauseMin*2*4/5, 2) // the second failure in a row, by a jitter of 20 %
		after(boardPauseMin, 3)
		b.reread()
		after(boardQuiet+time.Second, 4)
		cancel()
		b.end()
		b.reread()
		after(boardEvery*2, 4)
	})
}
