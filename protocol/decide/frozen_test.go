//go:build !race

package decide

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// freeze freezes the server for a time; 0 is until somebody ends it.
func (w *world) freeze(d time.Duration) {
	w.frozen = &resource.Frozen{Name: "z", By: "ops", Reason: "smoke in row 7", Since: w.hubTime()}
	if d > 0 {
		until := w.hubTime().Add(d)
		w.frozen.Until = &until
	}
	w.poke()
}

func (w *world) thaw() {
	w.frozen = nil
	w.poke()
}

// TestFrozen: a freeze switches nothing on and arms nothing; what runs is left, holds, receipts and stops that somebody
// asks for go on, and afterwards the server comes to where it belongs.
func TestFrozen(t *testing.T) {
	hold := func(w *world) {
		w.holds = []Hold{{ActiveHold: resource.ActiveHold{ID: "h", HoldSpec: resource.HoldSpec{Server: "server-1", HoldTerms: resource.HoldTerms{Mode: resource.StopHard}}}, EnforcedAt: w.clock()}}
	}
	for name, row := range map[string]struct {
		do   func(w *world)
		want protocol.PowerState
		says resource.Outcome // of its request
	}{
		"claim, Off":        {func(*world) {}, protocol.PowerOff, ""},
		"claim, On":         {func(w *world) { w.m.powerOn() }, protocol.PowerOn, ""},
		"a claim wants Off": {func(w *world) { w.m.powerOn(); w.intent.Power = resource.WantOff }, protocol.PowerOff, ""},
		"a claim ends":      {func(w *world) { w.m.powerOn(); w.intent.Releasing = true }, protocol.PowerOff, ""},
		"a hold":            {func(w *world) { w.m.powerOn(); hold(w) }, protocol.PowerOff, ""},
		"a reboot, Off":     {func(w *world) { w.ask(resource.RequestReboot) }, protocol.PowerOff, resource.OutcomeRefused},
		"a reboot, On":      {func(w *world) { w.m.powerOn(); w.ask(resource.RequestReboot) }, protocol.PowerOn, resource.OutcomeRefused},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.claim(3)
			w.freeze(0)
			row.do(w)
			w.run(5 * time.Minute)
			if w.m.power != row.want || !w.has(resource.CondFrozen) || w.record().Attempt != nil {
				t.Errorf("it is %s, want %s; conditions %+v, attempt %+v", w.m.power, row.want, w.conds, w.record().Attempt)
			}
			for _, q := range w.record().Requests {
				if q.Outcome != row.says || !strings.Contains(q.Reason, "freeze z by ops, until somebody ends it: smoke in row 7") {
					t.Errorf("%s: %s, %q", q.Action, q.Outcome, q.Reason)
				}
			}
			if len(w.holds) > 0 && len(w.record().Holds.Receipts) != 1 {
				t.Error("nothing is proved")
			}
			w.requests = nil
			w.thaw()
			w.run(5 * time.Minute)
			on := len(w.holds) == 0 && w.intent.Power == resource.WantOn && !w.intent.Releasing
			if (w.m.power == protocol.PowerOn) != on || w.has(resource.CondFrozen) {
				t.Errorf("thawed, it is %s; conditions %+v", w.m.power, w.conds)
			}
		})
	}
}

// TestFrozenResume: a server that somebody else stopped stays Off while it is frozen, whoever resumes it.
func TestFrozenResume(t *testing.T) {
	w := newWorld(t)
	w.claim(3)
	w.run(2 * time.Hour)
	w.m.power = protocol.PowerOff // its button
	w.run(5 * time.Minute)
	w.freeze(0)
	w.ask(resource.RequestResume)
	w.run(5 * time.Minute)
	q := w.record().Requests
	if len(q) != 1 || q[0].Outcome != resource.OutcomeRefused || !strings.HasPrefix(q[0].Reason, "freeze z") || w.m.power != protocol.PowerOff {
		t.Errorf("%s, %+v; conditions %+v", w.m.power, q, w.conds)
	}
}

// TestFrozenForATime: a freeze ends by itself, also with the hub gone and after the agent was started anew.
func TestFrozenForATime(t *testing.T) {
	for name, away := range map[string]bool{"the hub is there": false, "the hub is away": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.claim(3)
			w.freeze(10 * time.Minute)
			w.heard = w.heard && !away
			w.run(9 * time.Minute)
			if w.m.power != protocol.PowerOff {
				t.Fatalf("it is %s", w.m.power)
			}
			w.run(10 * time.Minute)
			if w.has(resource.CondFrozen) {
				t.Errorf("it is frozen yet: %+v", w.conds)
			}
			if !away && w.m.power != protocol.PowerOn { // without the hub no grant of this disk counts
				t.Errorf("it is %s, conditions %+v", w.m.power, w.conds)
			}
		})
	}
}

// TestFrozenAmidst: a freeze at any moment of a first boot. What firmware has not begun is taken back and uses nothing
// that a thaw could lack; what has begun ends as if nobody had frozen it.
func TestFrozenAmidst(t *testing.T) {
	states := map[resource.AttemptState]int{}
	for ms := 0; ms < 240_000; ms += 1_700 {
		w := newWorld(t)
		w.claim(9)
		w.run(time.Duration(ms) * time.Millisecond)
		before := w.record().Attempt
		w.freeze(0)
		w.run(time.Hour)
		a := w.record().Attempt
		if a.Open() && !before.Open() {
			t.Fatalf("after %d ms an attempt was begun under a freeze: %+v", ms, a)
		}
		if before.Open() {
			states[before.Stage.State]++
			if a.ID != before.ID {
				t.Fatalf("after %d ms: attempt %s follows %s under a freeze", ms, a.ID, before.ID)
			}
		}
		w.thaw()
		w.run(2 * time.Hour)
		if w.m.power != protocol.PowerOn || w.record().Attempt == nil || w.record().Attempt.Stage.State != resource.AttemptSucceeded {
			t.Fatalf("after %d ms, thawed: %s, attempt %+v, conditions %+v", ms, w.m.power, w.record().Attempt, w.conds)
		}
	}
	if len(states) < 3 {
		t.Errorf("it was frozen in these stages only: %v", states)
	}
}

// TestFrozenProperties is TestProperties with freezes, which may come and go at any moment: world.act refuses what
// switches a frozen server on or arms it.
func TestFrozenProperties(t *testing.T) {
	c := newChecks(t)
	times := 0
	c.check(t, 0, func(t *rapid.T) {
		w := newWorld(t)
		w.claim(rapid.IntRange(1, 3).Draw(t, "attempts"))
		actions := w.actions()
		actions["freeze"] = func(t *rapid.T) {
			times++
			w.freeze(time.Duration(rapid.SampledFrom([]int{0, 1, 60, 3600}).Draw(t, "seconds")) * time.Second)
		}
		actions["thaw"] = func(*rapid.T) { w.thaw() }
		t.Repeat(actions)
	})
	if times == 0 {
		t.Error("nothing was frozen")
	}
}
