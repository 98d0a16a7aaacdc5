package control

import (
	"strings"
	"testing"

	"rackboot/protocol/resource"
)

// What a roll-out counts is not spent meanwhile: while a rack gives a server what it is to boot no
// seat is given, and while seats are given no rack has a turn.
func TestSeatsAreNotSpentWhileTheyAreCounted(t *testing.T) {
	f := newFleet(t, 1, 2, 2, nil)
	rack, site := 0, 0
	f.passes = func(point string) {
		sharing := &f.control.sharing
		switch {
		case point == "hub.claim.configured":
			rack++
			if sharing.TryLock() {
				sharing.Unlock()
				t.Error("seats may be given while a rack gives a server what it boots")
			}
		case strings.HasPrefix(point, "hub.rollout."):
			site++
			if sharing.TryRLock() {
				sharing.RUnlock()
				t.Errorf("a rack may have a turn at %s", point)
			}
		}
	}
	f.until("all boot 1.0", f.all("1.0"))
	f.until("it is complete", f.phase(resource.RolloutCompleted))
	if rack == 0 || site == 0 {
		t.Errorf("%d configurations and %d steps were seen", rack, site)
	}
}
