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
