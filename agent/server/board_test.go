package server

import (
	"testing"
	"time"
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
		select {
		case <-loops.servers[name].board.asked:
			return true
		default:
			return false
		}
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
