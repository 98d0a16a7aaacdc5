package control

import (
	"strings"
	"testing"

	"rackboot/hub/wake"
	"rackboot/protocol/resource"
)

// What a roll-out counts is not spent meanwhile: while a rack gives a server what it is to boot no
// seat is given, and while seats are given no rack has a turn.
func TestSeatsAreNotSpentWhileTheyAreCounted(t *testing.T) {
	f := newFleet(t, 1, 2, 2, nil)
	rack, site := 0, 0
	f.passes = func(point string) {
		sharing := f.control.beside.sharing
		switch {
		case point == "hub.claim.configured":
			rack++
			if sharing.TryAcquire(shareAll) {
				sharing.Release(shareAll)
				t.Error("seats may be given while a rack gives a server what it boots")
			}
		case strings.HasPrefix(point, "hub.rollout."):
			site++
			if sharing.TryAcquire(shareOne) {
				sharing.Release(shareOne)
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

// Who comes gets the image of the day (seed 001), also where its rack's turn comes before the one of the
// site that gives it its place in the roll-out: whichever turns there were, it is never given an older
// revision before.
func TestWhoComesWaitsForItsPlace(t *testing.T) {
	const turns = 4
	for order := range 1 << turns {
		b, _, agent := groupSite(t, optIn(resource.OptInAll), entryOf("1.0"), workers())
		b.apply(fromWorkers("c1", "n1"))
		b.pass()
		b.proves(agent, "c1")
		b.soaks()
		b.apply(entryOf("2.0"))
		b.pass()
		b.wantHistory("a newer one", "1:1.0/catalogue 2:2.0/catalogue @2")
		b.apply(fromWorkers("c2", "n2"))
		b.readOff()
		took := ""
		for i := range turns {
			unit := wake.SiteUnit
			if order>>i&1 == 1 {
				unit = wake.RackUnit("r1")
			}
			took += " " + unit
			if err := b.control.turn(t.Context(), unit); err != nil {
				t.Fatal(err)
			}
			if got := b.boots(); got != "c1:1" && got != "c1:1 c2:2" {
				t.Fatalf("after%s: %q", took, got)
			}
		}
		b.pass()
		if got := b.boots(); got != "c1:1 c2:2" {
			t.Errorf("after%s: %q", took, got)
		}
	}
}
