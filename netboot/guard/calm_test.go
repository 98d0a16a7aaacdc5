package guard

import (
	"bytes"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestCalm: strangers' packets are a few lines in a minute, whatever their fields are, and the
// next minute says how many were left out.
func TestCalm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := Calm(slog.New(slog.NewTextHandler(&out, nil)).With("segment", "boot"))
		flood := func(n int) (lines []string) {
			out.Reset()
			for i := range n {
				log.With("mac", strconv.Itoa(i)).Warn("a stranger", "i", i)
			}
			return strings.Split(strings.TrimSpace(out.String()), "\n")
		}
		if got := flood(56_077); len(got) != calmBurst || strings.Contains(got[0], "left_out") {
			t.Fatalf("%d lines: %q", len(got), got[0])
		}
		log.Error("another")
		if !strings.Contains(out.String(), "another") {
			t.Error("one message silences another")
		}
		time.Sleep(calmEvery)
		if got := flood(10); len(got) != calmBurst || !strings.Contains(got[0], "left_out=56072") || strings.Contains(got[1], "left_out") || !strings.Contains(got[0], "segment=boot") {
			t.Errorf("%q", got)
		}
		library := slog.New(CalmHandler(slog.NewTextHandler(&out, nil)))
		out.Reset()
		for i := range 1000 {
			_ = library.Handler().Handle(t.Context(), slog.NewRecord(time.Now(), slog.LevelWarn, "handshake error from port "+strconv.Itoa(i), 0))
		}
		if n := strings.Count(out.String(), "\n"); n != calmBurst {
			t.Errorf("a library writes %d lines", n)
		}
		if again := Calm(log); again != log {
			t.Error("calmed twice")
		}
	})
}

// TestDecliners: a client has its budget, all have one together, and both fill up again.
func TestDecliners(t *testing.T) {
	now := time.Unix(0, 0)
	d := NewDecliners()
	count := func(n int, client func(int) string) (allowed int) {
		for i := range n {
			if d.Allow(client(i), now) {
				allowed++
			}
		}
		return allowed
	}
	one := func(int) string { return "a" }
	if got := count(146, one); got != declinesOfOne {
		t.Errorf("one client declined %d", got)
	}
	if got := count(5000, strconv.Itoa); got != declinesOfAll-declinesOfOne {
		t.Errorf("all others declined %d", got)
	}
	if len(d.by) > maxDecliners {
		t.Errorf("%d are remembered", len(d.by))
	}
	now = now.Add(declineOfOneEvery)
	if got := count(146, one); got != 1 {
		t.Errorf("after %s one client declined %d", declineOfOneEvery, got)
	}
	now = now.Add(time.Hour)
	if got := count(146, one); got != declinesOfOne {
		t.Errorf("after an hour one client declined %d", got)
	}
}

// TestShortages: of each machine once a minute, and no more machines than are remembered.
func TestShortages(t *testing.T) {
	now := time.Unix(0, 0)
	s := NewShortages()
	told := 0
	for i := range 2 * maxShort {
		if s.Tell(strconv.Itoa(i), now) {
			told++
		}
	}
	if told != maxShort || s.Tell("0", now.Add(shortAgain-1)) {
		t.Errorf("told of %d", told)
	}
	if !s.Tell("0", now.Add(shortAgain)) || !s.Tell("new", now.Add(shortAgain)) {
		t.Error("not told again")
	}
}
