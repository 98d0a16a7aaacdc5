package decide

import (
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// diverts is a world whose boots have their private token on a config image, and says whether
// another DHCP server answers.
func diverts(t *testing.T) (w *world, set func(there bool)) {
	w = newWorld(t)
	w.claim(3)
	w.observed(Private{Medium: true})
	return w, func(there bool) {
		w.private.Diverted = ""
		if there {
			w.private.Diverted = "another DHCP server answers"
		}
		w.poke()
	}
}

// TestDivertedBefore: a server that may be given another file is not powered on with secrets
// in its drive, until nobody is there any more.
func TestDivertedBefore(t *testing.T) {
	w, set := diverts(t)
	set(true)
	w.until("it waits", func() bool { return w.has(resource.CondEvidenceWaits) })
	w.run(2 * time.Minute)
	if w.record().Attempt != nil || w.m.power != protocol.PowerOff {
		t.Fatalf("%s: %+v", w.m.power, w.record().Attempt)
	}
	set(false)
	w.until("booted from disk", func() bool { return w.booted() && !w.record().Attempt.Network() })
}

// TestDivertedMeanwhile: an attempt ends, at each state before the server has its file, and
// the server is stopped; afterwards nothing ends it.
func TestDivertedMeanwhile(t *testing.T) {
	for _, at := range []resource.AttemptState{resource.AttemptPowerRequested, resource.AttemptConsumed, resource.AttemptFetched} {
		w, set := diverts(t)
		is := func() bool { a := w.record().Attempt; return a != nil && a.Stage.State == at }
		for i := 0; i < 1000 && !is(); i++ {
			w.run(50 * time.Millisecond)
		}
		if !is() {
			t.Fatalf("it was never %s", at)
		}
		id := w.record().Attempt.ID
		set(true)
		if at == resource.AttemptFetched {
			w.until("booted from disk", func() bool { return w.booted() && !w.record().Attempt.Network() })
			continue
		}
		w.until("it has ended", func() bool { a := w.record().Attempt; return a.ID == id && a.Stage.State == resource.AttemptFailed })
		if code := w.record().Attempt.Stage.Ending.Code; code != resource.AttemptDiverted {
			t.Errorf("%s: ended by %s", at, code)
		}
		w.until("it is Off, and its drive empty", func() bool {
			return w.m.power == protocol.PowerOff && w.m.medium == "" && w.has(resource.CondEvidenceWaits)
		})
		set(false)
		// What was fetched while it ended may have run: the grant is used up.
		w.until("booted from disk, or the grant is used up", func() bool {
			return w.booted() && !w.record().Attempt.Network() || at == resource.AttemptConsumed && w.has(resource.CondGrantSpent)
		})
	}
}
