//go:build !race

// Nothing here runs side by side, and the race detector makes it thirty times as
// slow.

package decide

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// runs is a world whose server has an installed system, and a claim that wants it.
func runs(t judge, onDelay time.Duration) *world {
	w := newWorld(t)
	w.w.light = true
	w.claim(1)
	w.m.disk, w.m.faults.OnDelay = true, onDelay
	r := w.record()
	r.Owners.Provisioned = &resource.Provisioned{OwnerUID: "claim-1", Generation: 1}
	w.save(r)
	return w
}

// TestHoldDuringPowerOn places a hold at every moment of a power-on: also between the
// decision and the On, and while a BMC that has taken the On shows Off. No On is sent
// from then on, no receipt comes before that On has shown its effect (the witness knows
// when the machine runs), and in the end there is one.
func TestHoldDuringPowerOn(t *testing.T) {
	n := 0
	for delay := range 13 {
		for moment := 1; ; moment++ {
			w := runs(t, time.Duration(delay)*time.Second)
			placed := false
			w.at, w.then = moment, func() { placed = true; w.hold(resource.StopHard) }
			w.run(20 * time.Second)
			if !placed {
				break
			}
			n++
			w.run(80 * time.Second)
			if rec := w.record(); w.m.power != protocol.PowerOff || len(rec.Holds.Receipts) != 1 {
				t.Fatalf("On takes %d s, hold at moment %d: machine %s, record %s", delay, moment, w.m.power, w.disk)
			}
		}
	}
	if n < 13*40 {
		t.Errorf("%d moments", n)
	}
}

// TestReleaseBeforeReceipt releases a hold at every moment of its stop: the server
// always comes to run its system again, and nothing of the hold is left.
func TestReleaseBeforeReceipt(t *testing.T) {
	n := 0
	for _, mode := range []resource.StopMode{resource.StopSoft, resource.StopHard} {
		for moment := 1; ; moment++ {
			w := runs(t, 0)
			w.run(time.Minute)
			if w.m.power != protocol.PowerOn || !w.m.os {
				t.Fatal("it does not run to begin with")
			}
			w.hold(mode)
			receipts := -1
			w.at, w.then = w.moments+moment, func() {
				receipts = len(w.record().Holds.Receipts)
				w.release(0)
			}
			w.run(15 * time.Second)
			if receipts > 0 || w.then != nil {
				break
			}
			n++
			w.run(3 * time.Minute)
			rec := w.record()
			if !w.m.os || len(rec.Holds.Receipts)+len(rec.Holds.Violated) != 0 || rec.Pending || rec.Guard != nil || w.m.policy != w.m.own {
				t.Fatalf("%s, released at moment %d: machine %s, record %s", mode, moment, w.m.power, w.disk)
			}
		}
	}
	if n < 40 {
		t.Errorf("%d moments", n)
	}
}

// TestTwoClients lets two owners hold, release and hold the same server again for an
// hour. No On is sent while either holds; the end of one hold is never that of the
// other's, nor of its receipt.
func TestTwoClients(t *testing.T) {
	t.Parallel()
	newChecks(t).check(t, 0, func(t *rapid.T) {
		w := runs(t, time.Duration(rapid.IntRange(0, 12).Draw(t, "onDelay"))*time.Second)
		owns := map[string]string{}
		lies := func(owner string) int {
			for i, h := range w.holds {
				if h.ID == owns[owner] {
					return i
				}
			}
			return -1
		}
		act := func(owner string) {
			other := map[string]string{"a": "b", "b": "a"}[owner]
			theirs := owns[other]
			if i := lies(owner); i >= 0 {
				w.release(i)
				delete(owns, owner)
			} else {
				mode := rapid.SampledFrom([]resource.StopMode{resource.StopSoft, resource.StopHard}).Draw(t, "mode")
				owns[owner] = w.place(resource.ActiveHold{HoldSpec: resource.HoldSpec{Owner: owner, HoldTerms: resource.HoldTerms{Mode: mode}}})
			}
			if theirs != "" && lies(other) < 0 {
				t.Fatalf("the hold of %s went with that of %s", other, owner)
			}
		}
		for w.now < time.Hour {
			owner := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "owner")
			if rapid.Bool().Draw(t, "in a call") {
				w.at, w.then = w.moments+rapid.IntRange(1, 12).Draw(t, "moment"), func() { act(owner) }
			} else {
				act(owner)
			}
			before := w.record().Holds.Receipts
			w.run(time.Duration(rapid.SampledFrom([]int{1, 3, 9, 20, 60, 300}).Draw(t, "seconds")) * time.Second)
			after := w.record().Holds.Receipts
			for who, id := range owns {
				if _, had := before[id]; had && fmt.Sprint(after[id]) != fmt.Sprint(before[id]) && after[id].RestorePolicy == before[id].RestorePolicy {
					t.Fatalf("the receipt of %s was %+v and is %+v", who, before[id], after[id])
				}
			}
			w.then = nil
		}
		w.run(2 * time.Minute)
		if held := len(w.holds) > 0; held == (w.m.power == protocol.PowerOn) || len(w.record().Holds.Receipts) != len(w.holds) {
			t.Fatalf("%d holds, machine %s, record %s", len(w.holds), w.m.power, w.disk)
		}
	})
}
