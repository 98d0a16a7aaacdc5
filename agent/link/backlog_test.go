package link

import (
	"testing"
	"time"
)

// A hub that answers late is sent each event once it has answered for those before, and the same ones ever more rarely.
func TestPace(t *testing.T) {
	var p pace
	at := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	for n, row := range []struct {
		session string
		first   uint64
		after   time.Duration // since the row before
		wait    time.Duration // zero is that it goes
		pause   time.Duration
	}{
		{"s", 1, 0, 0, 2 * time.Second},
		{"s", 1, time.Second, time.Second, 0},     // another event has come
		{"s", 1, time.Second, 0, 4 * time.Second}, // no answer
		{"s", 1, 4 * time.Second, 0, 8 * time.Second},
		{"s", 50, time.Second, 0, 8 * time.Second}, // an answer to one of several: nobody knows which
		{"s", 90, time.Second, 0, 4 * time.Second}, // one that was sent once
		{"s", 95, time.Second, 0, 2 * time.Second},
		{"s", 99, time.Second, 0, 2 * time.Second},
		{"s", 99, 2 * time.Second, 0, 4 * time.Second},
		{"s", 99, 4 * time.Second, 0, 8 * time.Second},
		{"s", 99, 8 * time.Second, 0, 16 * time.Second},
		{"s", 99, 16 * time.Second, 0, 32 * time.Second},
		{"s", 99, 32 * time.Second, 0, 32 * time.Second},
		{"s", 99, time.Second, 31 * time.Second, 0},
		{"t", 99, 0, 0, 2 * time.Second}, // another connection: what was under way may be lost
	} {
		at = at.Add(row.after)
		wait := p.wait(row.session, row.first, at)
		if wait != row.wait {
			t.Fatalf("row %d waits %s, want %s", n, wait, row.wait)
		}
		if wait == 0 {
			if pause := p.goes(row.session, row.first, at); pause != row.pause {
				t.Fatalf("row %d may take %s, want %s", n, pause, row.pause)
			}
		}
	}
}
