package decide

import (
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// wait lets the server wait for its place for a time, and says what it needs of the line at the end.
func (w *world) wait(d time.Duration) (need PlaceNeed) {
	w.queue = Place{Limited: true, Until: w.clock().Add(d)}
	w.poke()
	w.run(d)
	return w.needs()
}

// needs is what the next step says that it needs.
func (w *world) needs() PlaceNeed {
	s := w.snapshot()
	return Step(w.clock(), s).Place
}

// awaits is what the server is reported to wait for.
func (w *world) awaits() resource.WaitCode {
	if a := Awaits(w.record(), w.watch, w.holds, w.settings()); a != nil {
		return a.For
	}
	return ""
}

// served gives it its place.
func (w *world) served() {
	w.queue = Place{Limited: true, Has: true}
	w.poke()
}

// TestInrushWaits: a server without a place is armed with nothing and uses nothing, however long it waits, and boots once it
// has one; from the network, and from its disk.
func TestInrushWaits(t *testing.T) {
	w := newWorld(t)
	w.claim(1)
	for _, boot := range []string{"first", "from disk"} {
		if need := w.wait(3 * time.Hour); need != PlaceBegin || w.awaits() != resource.WaitInrush {
			t.Errorf("%s: it needs %s and awaits %q", boot, need, w.awaits())
		}
		if a := w.record().Attempt; w.m.power != protocol.PowerOff || w.m.override.Armed() || a.Open() {
			t.Errorf("%s: %s, override %+v, attempt %+v", boot, w.m.power, w.m.override, a)
		}
		if used := w.record().Owners.Used[grantKey(w.intent.Boot)].Attempts; boot == "first" && used != 0 {
			t.Errorf("its grant was used %d times", used)
		}
		w.served()
		w.run(10 * time.Minute)
		if w.m.power != protocol.PowerOn || !w.m.disk || w.needs() != PlaceNone || w.awaits() == resource.WaitInrush {
			t.Fatalf("%s: it is %s, needs %s, awaits %q, conditions %+v", boot, w.m.power, w.needs(), w.awaits(), w.conds)
		}
		w.intent.Power = resource.WantOff
		w.poke()
		w.run(5 * time.Minute)
		w.intent.Power = resource.WantOn
	}
	for _, e := range w.ended {
		if e.Code != "" {
			t.Errorf("an attempt failed: %+v", e)
		}
	}
}

// TestInrushGivesUp: whatever ends the wish to run ends the waiting, and a hold is proved meanwhile.
func TestInrushGivesUp(t *testing.T) {
	for name, do := range map[string]func(w *world){
		"a hold": func(w *world) {
			w.holds = []Hold{{ActiveHold: resource.ActiveHold{ID: "h", HoldSpec: resource.HoldSpec{Server: "server-1", HoldTerms: resource.HoldTerms{Mode: resource.StopHard}}}, EnforcedAt: w.clock()}}
		},
		"Off":           func(w *world) { w.intent.Power = resource.WantOff },
		"a release":     func(w *world) { w.intent.Releasing = true },
		"a freeze":      func(w *world) { w.freeze(0) },
		"firmware work": func(w *world) { w.firmware = &resource.FirmwareWork{NotAfter: w.hubTime().Add(time.Hour)} },
		"no owner":      func(w *world) { w.intent.Owner, w.intent.Boot, w.intent.Power = resource.Owner{}, nil, "" },
		"its term ends": func(w *world) { w.step(func(s *Snapshot) { s.Ended = true }) },
	} {
		w := newWorld(t)
		w.claim(3)
		w.wait(time.Minute)
		do(w)
		if name != "its term ends" {
			w.poke()
			w.run(time.Minute)
			if need := w.needs(); need != PlaceNone {
				t.Errorf("%s: it needs %s", name, need)
			}
		}
		if w.awaits() == resource.WaitInrush || len(w.holds) > 0 && len(w.record().Holds.Receipts) != 1 {
			t.Errorf("%s: it awaits %q, receipts %v", name, w.awaits(), w.record().Holds.Receipts)
		}
	}
}

// TestInrushArmed: a server that is armed when it has no place any more, or none yet since the agent was started again, waits
// without an attempt of it running out of time, and its On comes once it has one.
func TestInrushArmed(t *testing.T) {
	for name, row := range map[string]struct {
		state resource.AttemptState
		come  func(w *world)
	}{
		"its place is lost": {resource.AttemptArmed, func(w *world) {
			var look func()
			look = func() {
				if w.at, w.then = w.moments+1, look; w.m.override.Armed() {
					w.queue, w.then = Place{Limited: true}, nil
				}
			}
			look()
			w.run(time.Minute)
		}},
		"its On came to nothing": {resource.AttemptPowerRequested, func(w *world) {
			w.m.faults.DropOn = true
			w.run(5 * time.Second)
			w.m.faults.DropOn = false
			w.restart()
			w.heard = true
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.claim(1)
			w.served()
			row.come(w)
			if need := w.wait(time.Hour); need != PlaceSend || w.awaits() != resource.WaitInrush {
				t.Fatalf("it needs %s and awaits %q; attempt %+v", need, w.awaits(), w.record().Attempt)
			}
			if a := w.record().Attempt; a.Stage.State != row.state || w.m.power != protocol.PowerOff {
				t.Fatalf("%s, attempt %+v", w.m.power, a)
			}
			w.served()
			w.run(10 * time.Minute)
			if w.m.power != protocol.PowerOn || !w.m.disk {
				t.Errorf("it is %s, conditions %+v", w.m.power, w.conds)
			}
			for _, e := range w.ended {
				if e.Code != "" {
					t.Errorf("an attempt failed: %+v", e)
				}
			}
		})
	}
}

// TestInrushReboot: a reboot whose server waits to be switched on again does not run out of its hour.
func TestInrushReboot(t *testing.T) {
	w := newWorld(t)
	w.claim(1)
	w.run(10 * time.Minute)
	if w.m.power != protocol.PowerOn {
		t.Fatal("it does not run")
	}
	w.ask(resource.RequestReboot)
	w.wait(3 * requestLimit)
	outcome := func() resource.Outcome {
		for _, q := range w.record().Requests {
			if q.ID == "q" {
				return q.Outcome
			}
		}
		return ""
	}
	if outcome() != resource.OutcomePending || w.m.power != protocol.PowerOff {
		t.Fatalf("after three hours it is %s, the reboot %s", w.m.power, outcome())
	}
	w.served()
	w.run(10 * time.Minute)
	if outcome() != resource.OutcomeDone || w.m.power != protocol.PowerOn {
		t.Errorf("it is %s, the reboot %s", w.m.power, outcome())
	}
}
