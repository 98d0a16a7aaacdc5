package decide

import (
	"slices"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestGuardVectors are V7 (docs/SOURCES.md): what a held server does when mains power
// returns is set, vouched for, and put back before it is powered on.
func TestGuardVectors(t *testing.T) {
	const on, off = protocol.PowerOn, protocol.PowerOff
	lies := func(s *Snapshot) {
		s.Holds = held(resource.StopHard, "h")
		s.Record.Owners.Provisioned = provisionedBy("claim-1")
	}
	t.Run("set and put back", func(t *testing.T) {
		y := story(t, lies)
		y.read(on, 1*sec, nil)
		y.want(ActForceOff) // first
		if y.policy != protocol.RestoreAlwaysOn {
			t.Fatal("written before the stop")
		}
		y.read(off, 2*sec, y.answered(""))
		if y.policy != protocol.RestoreAlwaysOff || y.s.Record.Guard.Before != protocol.RestoreAlwaysOn {
			t.Fatalf("policy %s, guard %+v", y.policy, y.s.Record.Guard)
		}
		y.happened(resource.EventRestorePolicy)
		y.read(off, 7*sec, nil)
		if r := y.p.Record.Holds.Receipts["h"]; r.RestorePolicy != protocol.RestoreAlwaysOff {
			t.Errorf("receipt %+v", r)
		}
		y.lacks(resource.CondRestorePolicy)
		y.s.Holds = nil
		y.read(off, 20*sec, nil)
		y.happened(resource.EventRestorePolicy)
		y.want(ActArm)
		if y.policy != protocol.RestoreAlwaysOn || y.p.Record.Guard != nil {
			t.Errorf("policy %s, guard %+v", y.policy, y.p.Record.Guard)
		}
	})
	t.Run("AlwaysOff already", func(t *testing.T) {
		y := story(t, lies)
		y.policy = protocol.RestoreAlwaysOff
		y.read(off, 1*sec, nil)
		y.read(off, 6*sec, nil)
		if r := y.p.Record.Holds.Receipts["h"]; r.RestorePolicy != protocol.RestoreAlwaysOff {
			t.Errorf("receipt %+v", r)
		}
		y.s.Holds = nil
		y.read(off, 20*sec, nil)
		y.want(ActArm)
	})
	t.Run("a BMC that cannot", func(t *testing.T) {
		for _, driver := range []bool{false, true} {
			y := story(t, lies)
			y.s.CanGuard, y.rude = driver, protocol.CodeUnsupported
			y.read(off, 1*sec, nil)
			y.condition(resource.CondRestorePolicy)
			y.read(off, 6*sec, nil)
			y.receipt("h", true)
			if p := y.p.Record.Holds.Receipts["h"].RestorePolicy; p != "" {
				t.Errorf("receipt vouches for %s", p)
			}
			y.s.Holds = nil
			y.read(off, 20*sec, nil)
			y.want(ActArm)
			y.lacks(resource.CondRestorePolicy)
		}
	})
	t.Run("errors delay nothing, and come less and less often", func(t *testing.T) {
		y := story(t, lies)
		y.rude = protocol.CodeUnavailable
		tries := 0
		for d := 1 * sec; d < 200*sec; d += sec {
			y.s.Observation = seen(off, d)
			y.step(d)
			if y.p.Action.Kind == ActReadPolicy {
				if tries++; d < 6*sec && (y.p.Action.Within <= 0 || at(d).Add(y.p.Action.Within).After(y.p.RecheckAt)) {
					t.Fatalf("a read waits for it: %+v", y.p.Action)
				}
				y.guards(d)
			}
			y.receipt("h", d >= 6*sec)
		}
		if tries < 3 || tries > 7 {
			t.Errorf("%d tries in 200 s", tries)
		}
		y.condition(resource.CondRestorePolicy)
		y.rude = ""
		y.until(off, 400*sec, 420*sec)
		if r := y.p.Record.Holds.Receipts["h"]; r.RestorePolicy != protocol.RestoreAlwaysOff {
			t.Errorf("receipt %+v", r)
		}
		y.lacks(resource.CondRestorePolicy)
	})
	t.Run("a BMC that does not take it back keeps nothing off for ever", func(t *testing.T) {
		y := story(t, lies)
		y.read(off, 1*sec, nil)
		y.read(off, 6*sec, nil)
		y.s.Holds, y.rude = nil, protocol.CodeInvalid
		d := 10 * sec
		for ; y.p.Action.Kind != ActArm && d < 300*sec; d += sec {
			y.read(off, d, nil)
			y.condition(resource.CondRestorePolicy)
		}
		y.want(ActArm)
		if d < 40*sec || y.policy != protocol.RestoreAlwaysOff {
			t.Errorf("after %v, policy %s", d, y.policy)
		}
		y.read(off, d, y.answered(""))
		y.want(ActOn)
		y.read(on, d+sec, y.answered(""))
		y.rude = ""
		y.read(on, d+attemptMaxPause, nil)
		if y.policy != protocol.RestoreAlwaysOn {
			t.Error("not put back later")
		}
	})
}

// TestGuardCrash lets the agent die before and after each effect of a hold's life; the
// policy from before is always put back, and nothing is written before it is on disk.
func TestGuardCrash(t *testing.T) {
	for _, before := range []protocol.RestorePolicy{protocol.RestoreAlwaysOn, protocol.RestoreLastState, protocol.RestoreAlwaysOff} {
		for die := range 40 {
			y := story(t, func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-1") })
			y.policy = before
			effects := 0
			dies := func() bool {
				effects++
				if effects != die {
					return false
				}
				y.restart()
				return true
			}
			var result *Result
			for d := range 60 {
				y.s.Holds = nil
				if d < 20 || d == 22 { // and once more while it is being put back
					y.s.Holds = held(resource.StopHard, "h")
				}
				y.s.Observation, y.s.Result = seen(protocol.PowerOff, time.Duration(d)*sec), result
				disk := y.s.Record
				y.step(time.Duration(d) * sec)
				result = nil
				if !y.p.Persist {
					y.s.Record = disk
				}
				a := y.p.Action
				if a.Kind == ActArm || a.Kind == ActOn {
					if y.policy != before {
						t.Fatalf("%s, dies at %d: %s before the policy was put back", before, die, a.Kind)
					}
					break
				}
				if dies() || a.Kind == ActNone {
					continue
				}
				r := Result{Action: a.Kind, At: at(time.Duration(d) * sec), Policy: y.policy}
				if a.Kind != ActReadPolicy {
					if g := y.s.Record.Guard; g == nil || g.Before != before {
						t.Fatalf("%s is written with %+v on disk", a.Policy, g)
					}
					y.policy = a.Policy
				}
				if !dies() {
					result = &r
				}
			}
			if y.policy != before || y.s.Record.Guard != nil {
				t.Fatalf("%s, dies at %d: left %s, %+v", before, die, y.policy, y.s.Record.Guard)
			}
		}
	}
}

// TestRecordsOfTheReleaseBefore: they decode, and what they do not say is not guessed.
func TestRecordsOfTheReleaseBefore(t *testing.T) {
	y := story(t, func(s *Snapshot) {
		s.Record.Owners.Provisioned = provisionedBy("claim-1")
		s.Record.Shown.Power, s.Record.LastPoweredOn, s.Record.PendingRebootSince = protocol.PowerOn, at(-2*time.Hour), at(-time.Hour)
	})
	y.read(protocol.PowerOn, 1*sec, nil)
	y.want(ActNone) // what was pending then is not asked now
	if p := y.p.Record.PoweredOn(y.s.Intent); !p.IsZero() {
		t.Errorf("powered on at %v for this image, says a record that does not know", p)
	}
	if slices.ContainsFunc(y.p.Happened, func(e resource.Event) bool { return e.Code != resource.EventPowerSeen }) {
		t.Errorf("%v", y.p.Happened)
	}
}
