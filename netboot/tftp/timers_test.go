package tftp

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestTimers: an alarm is due at its time and not before, however often it was moved, and
// next is never later than the earliest.
func TestTimers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ts timers
		all := make([]*transfer, 8)
		want := make(map[*transfer]int)
		for i := range all {
			all[i] = &transfer{alarm: alarm{place: -1}}
		}
		at := func(s int) time.Time { return time.Unix(1e9, 0).Add(time.Duration(s) * time.Second) }
		now := 0
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			of := rapid.SampledFrom(all).Draw(t, "of")
			switch rapid.IntRange(0, 3).Draw(t, "do") {
			case 0, 1:
				want[of] = now + rapid.IntRange(0, 10).Draw(t, "in")
				ts.set(of, at(want[of]))
			case 2:
				delete(want, of)
				ts.unset(of)
			case 3:
				now += rapid.IntRange(0, 5).Draw(t, "passes")
				for of := ts.due(at(now)); of != nil; of = ts.due(at(now)) {
					if s, ok := want[of]; !ok || s > now {
						t.Fatalf("due at %d: %d, %v", now, s, ok)
					}
					delete(want, of)
				}
			}
			next := ts.next()
			if next.IsZero() != (len(want) == 0) {
				t.Fatalf("next is %s of %d", next, len(want))
			}
			for _, s := range want {
				if next.After(at(s)) {
					t.Fatalf("next is %s, and one is due at %s", next, at(s))
				}
				if s < now {
					t.Fatalf("one of %d is not due at %d", s, now)
				}
			}
		}
	})
}
