//go:build !race

package decide

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// takeOver is a failover to another agent, on whose disk nothing is of the server but its holds.
func (w *world) takeOver() {
	w.ids++
	w.incarnation, w.taken = "disk-of-the-second", []string{"r1-1"}
	w.requests, w.asked = nil, nil // they were given to the first one
	w.save(Record{Server: "server-1"})
	w.watch, w.events, w.read, w.heard, w.started = Watch{}, nil, nil, true, w.now
	w.w.restarted()
	w.poke()
}

// TestTakenOver: while holds of the agent before are not known, nothing asks in a way that switches a server on; holds,
// stops and receipts go on; and once it is settled the server comes to where it belongs.
func TestTakenOver(t *testing.T) {
	for name, row := range map[string]struct {
		do   func(w *world)
		want protocol.PowerState
	}{
		"claim, Off":        {func(*world) {}, protocol.PowerOff},
		"claim, On":         {func(w *world) { w.m.powerOn() }, protocol.PowerOn},
		"a claim wants Off": {func(w *world) { w.m.powerOn(); w.intent.Power = resource.WantOff }, protocol.PowerOff},
		"a hold": {func(w *world) {
			w.m.powerOn()
			w.holds = []Hold{{ActiveHold: resource.ActiveHold{ID: "h", HoldSpec: resource.HoldSpec{Server: "server-1", HoldTerms: resource.HoldTerms{Mode: resource.StopHard}}}, EnforcedAt: w.clock()}}
		}, protocol.PowerOff},
		"a reboot, Off":  {func(w *world) { w.ask(resource.RequestReboot) }, protocol.PowerOff},
		"a reboot, On":   {func(w *world) { w.m.powerOn(); w.ask(resource.RequestReboot) }, protocol.PowerOn},
		"a resume":       {func(w *world) { w.ask(resource.RequestResume) }, protocol.PowerOff},
		"a resume, here": {func(w *world) { w.ask(resource.RequestResume); w.asked, w.requests = w.requests, nil }, protocol.PowerOff},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.claim(3)
			w.taken = []string{"r1-1"}
			row.do(w)
			w.run(5 * time.Minute)
			if w.m.power != row.want || !w.has(resource.CondTakenOver) {
				t.Errorf("it is %s, want %s; conditions %+v", w.m.power, row.want, w.conds)
			}
			for _, q := range w.record().Requests {
				if q.Outcome != resource.OutcomeRefused || !strings.Contains(q.Reason, "rackctl rack settle") {
					t.Errorf("%s: %s, %q", q.Action, q.Outcome, q.Reason)
				}
			}
			if len(w.holds) > 0 && len(w.record().Holds.Receipts) != 1 {
				t.Error("nothing is proved")
			}
			w.taken, w.requests, w.asked = nil, nil, nil
			w.run(5 * time.Minute)
			if on := w.m.power == protocol.PowerOn; on != (len(w.holds) == 0 && w.intent.Power == resource.WantOn) || w.has(resource.CondTakenOver) {
				t.Errorf("settled, it is %s; conditions %+v", w.m.power, w.conds)
			}
		})
	}
}

func (w *world) ask(action resource.RequestAction) {
	w.requests = []resource.Request{{ID: "q", Server: "server-1", Action: action, NotAfter: w.hubTime().Add(time.Hour), Incarnation: w.incarnation, Retry: true, AnyPhase: true}}
}

// TestTakenOverProperties is TestProperties with failovers, which may come at any moment, and be settled: world.act
// refuses what switches the server on meanwhile.
func TestTakenOverProperties(t *testing.T) {
	c := newChecks(t)
	overs := 0
	c.check(t, 0, func(t *rapid.T) {
		w := newWorld(t)
		w.claim(rapid.IntRange(1, 3).Draw(t, "attempts"))
		actions := w.actions()
		actions["over"] = func(*rapid.T) {
			if len(w.taken) == 0 {
				overs++
				w.taken = []string{"r1-1"} // its own disk may be an old one
				w.requests = slices.DeleteFunc(w.requests, func(resource.Request) bool { return true })
				w.poke()
			}
		}
		actions["settle"] = func(*rapid.T) {
			w.taken = nil
			w.poke()
		}
		t.Repeat(actions)
	})
	if overs == 0 {
		t.Error("there was no failover")
	}
}

// TestFailoverAmidst: whatever the first agent was about, the second continues none of it, and what it does not know
// ends as unknown or is decided by people.
func TestFailoverAmidst(t *testing.T) {
	for seconds := 0; seconds < 180; seconds += 7 {
		w := newWorld(t)
		w.claim(3)
		w.run(time.Duration(seconds) * time.Second)
		was := w.m.power
		w.takeOver()
		w.run(10 * time.Minute)
		if was == protocol.PowerOff && w.m.power == protocol.PowerOn && len(w.taken) > 0 && w.record().Attempt != nil {
			t.Errorf("after %d s: it went on with %+v", seconds, w.record().Attempt)
		}
	}
}
