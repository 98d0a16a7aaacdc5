package decide

import (
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const sec = time.Second

// TestHoldVectors are the hold vectors V1 to V24 (docs/SOURCES.md) that a decision
// answers. V7's restore policy is in TestGuardVectors, V22 in TestRequestVectors. Not
// here: V12 (the hub refuses no hold: no-power-off servers are no kind yet), V14, V15
// and V21 (hub), V17 to V19 over a restart with a store (rack tests).
func TestHoldVectors(t *testing.T) {
	const (
		on, off     = protocol.PowerOn, protocol.PowerOff
		going       = protocol.PowerPoweringOff
		unreachable = protocol.PowerUnreachable
	)
	soft := func(s *Snapshot) { s.Holds = held(resource.StopSoft, "h") }
	hard := func(s *Snapshot) { s.Holds = held(resource.StopHard, "h") }
	for name, tell := range map[string]func(t *testing.T){
		"V1 PoweringOff for ever": func(t *testing.T) {
			y := story(t, soft)
			y.read(on, 1*sec, nil)
			y.want(ActGraceful)
			y.read(going, 2*sec, y.answered(""))
			y.want(ActNone)
			y.read(going, 20*sec, nil)
			y.want(ActNone)
			y.receipt("h", false)
			y.read(going, 22*sec, nil)
			y.want(ActForceOff)
		},
		"V2 hard pre-empts soft": func(t *testing.T) {
			y := story(t, soft)
			y.read(on, 1*sec, nil)
			y.want(ActGraceful)
			y.s.Holds = append(y.s.Holds, held(resource.StopHard, "i")...)
			y.read(on, 6*sec, y.answered(""))
			y.want(ActForceOff)
		},
		"V3 unreadable after Off": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Intent.Power = resource.WantOff })
			y.read(off, -20*sec, nil)
			y.read(off, -10*sec, nil)
			y.s.Holds = held(resource.StopHard, "h")
			for d := range 10 {
				y.read(unreachable, time.Duration(d+1)*sec, nil)
				y.receipt("h", false)
			}
			y.want(ActNone)
			y.condition(resource.CondBMCUnreachable)
		},
		"V4 Off was seen before the hold": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Intent.Power = resource.WantOff })
			y.read(off, -20*sec, nil)
			y.read(off, -10*sec, nil)
			y.s.Holds = held(resource.StopHard, "h")
			y.read(on, 1*sec, nil)
			y.want(ActForceOff)
			y.receipt("h", false)
			y.read(off, 2*sec, y.answered(""))
			y.receipt("h", false)
			y.read(off, 7*sec, nil)
			y.receipt("h", true)
		},
		"V5 Off, On, Off in the settle window": func(t *testing.T) {
			y := story(t, hard)
			y.read(off, 1*sec, nil)
			y.read(on, 3*sec, nil)
			y.want(ActForceOff)
			y.read(off, 5*sec, y.answered(""))
			y.read(off, 8*sec, nil)
			y.receipt("h", false)
			y.read(off, 10*sec, nil)
			y.receipt("h", true)
		},
		"V5 PoweringOff, Unknown and Unreachable break the window": func(t *testing.T) {
			for _, p := range []protocol.PowerState{going, protocol.PowerUnknown, unreachable, protocol.PowerPaused} {
				y := story(t, hard)
				y.read(off, 1*sec, nil)
				y.read(p, 3*sec, nil)
				y.read(off, 6*sec, nil)
				y.receipt("h", false)
				y.read(off, 11*sec, nil)
				y.receipt("h", true)
			}
		},
		"V6 and V7 powered on under a hold": func(t *testing.T) {
			y := story(t, soft)
			y.read(off, 1*sec, nil)
			y.read(off, 6*sec, nil)
			y.receipt("h", true)
			epoch := y.p.Record.Shown.Epoch
			y.read(on, 9*sec, nil)
			y.want(ActForceOff)
			y.receipt("h", false)
			y.happened(resource.EventHoldViolated)
			y.condition(resource.CondHoldViolated)
			if y.p.Record.Shown.Epoch != epoch+1 {
				t.Errorf("epoch %d after %d", y.p.Record.Shown.Epoch, epoch)
			}
			y.read(off, 10*sec, y.answered(""))
			y.read(off, 15*sec, nil)
			y.receipt("h", true)
		},
		"V8 ForceOff refused because it is Off": func(t *testing.T) {
			y := story(t, hard)
			y.read(on, 1*sec, nil)
			y.want(ActForceOff)
			y.read(off, 2*sec, y.answered(protocol.CodeConflict))
			y.want(ActNone)
			y.read(off, 7*sec, nil)
			y.receipt("h", true)
			if len(y.p.Record.Conditions) != 1 {
				t.Errorf("conditions %v, want Held alone", y.p.Record.Conditions)
			}
		},
		"V9 and V10 On dropped, or refused for 60 s": func(t *testing.T) {
			for _, code := range []protocol.Code{"", protocol.CodeConflict} {
				y := story(t, func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-1") })
				y.read(off, 1*sec, nil)
				y.want(ActArm)
				y.read(off, 2*sec, y.answered(""))
				y.want(ActOn)
				sent := 0
				for d := 3; d <= 60; d++ {
					var r *Result
					if y.p.Action.Kind == ActOn {
						sent++
						r = y.answered(code)
					}
					y.read(off, time.Duration(d)*sec, r)
					if code != "" {
						y.condition(resource.CondPowerFailed)
					}
				}
				if sent != 6 {
					t.Errorf("On was sent %d times in 60 s, want every 10 s", sent)
				}
				y.read(on, 61*sec, nil)
				if s := y.p.Record.Attempt.Stage.State; s != resource.AttemptSucceeded {
					t.Errorf("attempt %s", s)
				}
			}
		},
		"V11 the first call of a reboot fails": func(t *testing.T) {
			y := story(t, func(s *Snapshot) {
				s.Record.Owners.Provisioned = provisionedBy("claim-1")
				s.Requests = []resource.Request{{ID: "r", Action: resource.RequestReboot, Mode: resource.StopHard, NotAfter: at(time.Minute)}}
			})
			y.read(on, 1*sec, nil)
			y.want(ActForceOff)
			y.read(on, 2*sec, y.answered(protocol.CodeConflict))
			y.want(ActNone)
			y.read(on, 5*sec, nil)
			y.want(ActForceOff)
			if o := y.p.Record.Requests[0].Outcome; o != resource.OutcomePending {
				t.Errorf("outcome %s", o)
			}
		},
		"V13 another image is pending": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { soft(s); s.Artefacts.Local = false })
			y.read(off, 1*sec, nil)
			y.s.Artefacts.Local = true
			y.read(off, 6*sec, nil)
			y.want(ActNone)
			if y.p.Fetch {
				t.Error("fetches under a hold")
			}
			y.receipt("h", true)
		},
		"V16 the same hold twice": func(t *testing.T) {
			y := story(t, hard)
			y.read(off, 1*sec, nil)
			first := y.read(off, 6*sec, nil).Record.Holds.Receipts["h"]
			y.s.Holds = held(resource.StopHard, "h")
			if again := y.read(off, 12*sec, nil).Record.Holds.Receipts["h"]; again != first {
				t.Errorf("receipt %+v became %+v", first, again)
			}
		},
		"V17 two holds, one released": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Holds = held(resource.StopHard, "h", "i") })
			y.read(off, 1*sec, nil)
			y.read(off, 6*sec, nil)
			y.s.Holds = held(resource.StopHard, "i")
			y.read(off, 7*sec, nil)
			y.want(ActNone)
			y.receipt("i", true)
			y.receipt("h", false)
		},
		"V18 crash around the reset": func(t *testing.T) {
			y := story(t, hard)
			y.read(on, 1*sec, nil)
			y.want(ActForceOff)
			y.restart()
			y.read(off, 3*sec, nil)
			y.want(ActNone)
			y = story(t, func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-1") })
			y.read(off, 1*sec, nil)
			y.read(off, 2*sec, y.answered(""))
			y.want(ActOn)
			y.restart()
			y.read(on, 4*sec, nil) // it was sent
			y.want(ActNone)
		},
		"V20 soft fails once, a later soft hold": func(t *testing.T) {
			y := story(t, soft)
			y.read(on, 1*sec, nil)
			y.read(on, 2*sec, y.answered(protocol.CodeUnsupported))
			y.want(ActForceOff)
			y.read(off, 3*sec, y.answered(""))
			y.s.Holds = nil
			y.s.Intent.Power = ""
			y.read(on, 10*sec, nil)
			y.s.Holds = held(resource.StopSoft, "j")
			y.read(on, 12*sec, nil)
			y.want(ActGraceful)
		},
		"V23 a reboot during a first boot": func(t *testing.T) {
			for _, any := range []bool{false, true} {
				y := story(t, nil)
				y.read(off, 1*sec, nil)
				y.want(ActArm)
				y.read(off, 2*sec, y.answered(""))
				y.want(ActOn)
				y.s.Requests = []resource.Request{{ID: "r", Action: resource.RequestReboot, Mode: resource.StopHard, AnyPhase: any, NotAfter: at(time.Minute)}}
				y.read(on, 3*sec, y.answered(""))
				r := y.p.Record.Requests[0]
				if !any {
					y.outcome("r", resource.OutcomeRefused, "a first boot is under way; anyPhase ends it")
					y.happened(resource.EventRequestEnded)
					continue
				}
				if r.Outcome != resource.OutcomePending || y.p.Record.Attempt.Open() || y.p.Record.Owners.Used["claim-1/1"].Spent {
					t.Fatalf("%+v, attempt %+v", r, y.p.Record.Attempt)
				}
				y.want(ActForceOff)
				y.read(off, 5*sec, y.answered(""))
				y.want(ActArm) // the claim's rules go on: its grant is not spent
				if a := y.p.Record.Attempt; !a.Network() || a.Number != 2 {
					t.Errorf("attempt %+v", a)
				}
			}
		},
		"V24 the clock steps back": func(t *testing.T) {
			y := story(t, hard)
			y.read(on, 100*sec, nil)
			y.want(ActForceOff)
			y.read(on, 1*sec, y.answered("")) // and the BMC forgot it
			y.read(on, 12*sec, nil)
			y.want(ActForceOff)
			y.read(off, 13*sec, nil)
			y.receipt("h", false)
		},
	} {
		t.Run(name, tell)
	}
}
