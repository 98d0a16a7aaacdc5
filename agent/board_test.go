package agent

import (
	"log/slog"
	"testing"
	"time"
)

// TestLoggedIn: a new session makes the boards of the servers behind that BMC be read,
// unless they just were.
func TestLoggedIn(t *testing.T) {
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	a := &Agent{log: slog.New(slog.DiscardHandler), cfg: Config{Clock: func() time.Time { return now }}}
	a.loops = newLoops(a)
	named := func(name string) *server { return newServer(a, name) }
	a.loops.servers = map[string]*server{"one": named("one"), "two": named("two"), "unread": named("unread")}
	for name, address := range map[string]string{"one": "https://10.0.0.1:8443/", "two": "https://10.0.0.2"} {
		host := hostOf(address)
		a.loops.servers[name].host.Store(&host)
	}
	asked := func(name string) bool {
		select {
		case <-a.loops.servers[name].boards:
			return true
		default:
			return false
		}
	}
	look := func(host string, one, two bool) {
		t.Helper()
		a.loggedIn(host)
		if asked("one") != one || asked("two") != two || asked("unread") {
			t.Errorf("a session at %s: want %t, %t", host, one, two)
		}
	}
	look("10.0.0.1:8443", true, false)
	look("10.0.0.2", false, true)
	look("10.0.0.3", false, false)
	a.loops.servers["one"].boardAt.Store(now.Add(-time.Minute).Unix())
	look("10.0.0.1:8443", false, false)
	a.loops.servers["one"].boardAt.Store(now.Add(-time.Hour).Unix())
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
