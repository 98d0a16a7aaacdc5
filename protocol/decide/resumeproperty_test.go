//go:build !race

package decide

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/protocol/resource"
)

// TestResumes resumes a server again and again that somebody switches, resets or cuts
// from the mains, with a BMC that misbehaves, holds and crashes of the agent between. The
// witness holds each restart and each boot from the network against P2, P4, P5, P6 and P9.
func TestResumes(t *testing.T) {
	t.Parallel()
	restarts, retries := 0, 0
	newChecks(t).check(t, 0, func(t *rapid.T) {
		w, most := runs(t, 0), 90
		if rapid.SampledFrom([]string{"first", "first", "first", "later"}).Draw(t, "boot") == "first" {
			w, most = newWorld(t), 60 // a first boot lasts as long, and a retry is of one that was cut short
			w.claim(1)
		}
		w.run(time.Duration(rapid.IntRange(5, most).Draw(t, "seconds")) * time.Second)
		for range 6 {
			all := w.actions()
			for _, name := range []string{
				rapid.SampledFrom([]string{"someone resets it", "someone cuts power", "someone powers it on", "mains fails", "its firmware asks"}).Draw(t, "happens"),
				rapid.SampledFrom([]string{"time", "time", "faults", "heal", "restart", "crash", "hold", "release", "hours"}).Draw(t, "then"),
				"resume", "heal",
			} {
				all[name](t)
			}
			w.run(2 * time.Minute)
			if a := w.record().Attempt; a != nil && a.Order.Restart && a.Stage.State == resource.AttemptSucceeded {
				restarts++
			}
			for _, r := range w.record().Requests {
				if r.Renewed {
					retries++
				}
			}
		}
	})
	if restarts == 0 || retries == 0 {
		t.Errorf("%d restarts, %d retries: nothing was shown", restarts, retries)
	}
	t.Logf("%d restarts, %d retries", restarts, retries)
}
