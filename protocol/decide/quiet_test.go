package decide

import (
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestLateOn: a BMC may show Off for a while after it accepted On. A hold, its
// release and a new attempt meanwhile do not make that On forgotten: nothing is
// begun over it, and a later hold is not proved before it cannot take effect (P3).
func TestLateOn(t *testing.T) {
	const off = protocol.PowerOff
	const quiet = 3*sec + onUnseen // the answer to On was read at 3 s
	ordered := func(t *testing.T) *play {
		t.Helper()
		y := story(t, func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-1") })
		y.read(off, 1*sec, nil)
		y.want(ActArm)
		y.read(off, 2*sec, y.answered(""))
		y.want(ActOn)
		y.s.Holds = held(resource.StopHard, "h")
		y.read(off, 3*sec, y.answered(""))
		return y
	}
	again := func(y *play, change func(*Snapshot)) {
		y.s.Holds = nil
		change(&y.s)
		var r *Result
		for y.p.Action.Kind == ActDisarm {
			r = y.answered("")
			y.read(off, 4*sec, r)
		}
		y.read(off, 5*sec, nil)
		y.want(ActNone)
		y.s.Holds = held(resource.StopHard, "i")
		y.s.Holds[0].EnforcedAt = at(6 * sec)
		y.read(off, 7*sec, nil)
		y.read(off, quiet, nil)
		y.receipt("i", false)
		y.read(off, quiet+sec, nil)
		y.read(off, quiet+6*sec, nil)
		y.receipt("i", true)
	}
	t.Run("for the same claim", func(t *testing.T) {
		again(ordered(t), func(*Snapshot) {})
	})
	t.Run("for another claim", func(t *testing.T) {
		again(ordered(t), func(s *Snapshot) {
			w := world{claims: 1}
			w.claim(3)
			s.Intent, s.Grant = w.intent, w.grant
		})
	})
	t.Run("nothing took it", func(t *testing.T) {
		y := ordered(t)
		y.s.Holds = nil
		y.read(off, 4*sec, y.answered(""))
		y.read(off, quiet-1, nil)
		y.want(ActNone)
		y.read(off, quiet, nil)
		y.want(ActArm)
	})
	t.Run("it is looked for, and the receipt begins after it", func(t *testing.T) {
		y := ordered(t)
		y.s.Holds[0].EnforcedAt = at(3 * sec)
		for d := 4 * sec; d < quiet; d += 7 * sec {
			y.read(off, d, y.answered(""))
			if next := y.p.RecheckAt; next.IsZero() || next.After(at(d+activeInterval)) {
				t.Fatalf("after %s it is read again at %s", d, next)
			}
		}
		// Nobody knows what was between two reads: somebody may have pressed the button.
		for d := quiet; d <= quiet+5*sec; d += 5 * sec {
			y.read(off, d, nil)
		}
		y.receipt("h", true)
		if rc := y.p.Record.Holds.Receipts["h"]; rc.StoppedSince.Before(at(quiet)) || rc.OnWaited != onUnseen {
			t.Errorf("receipt %+v", rc)
		}
	})
	t.Run("a reboot was asked for meanwhile", func(t *testing.T) {
		y := story(t, func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-1") })
		y.read(off, 1*sec, nil)
		y.read(off, 2*sec, y.answered(""))
		y.want(ActOn)
		y.s.Requests = []resource.Request{{ID: "r", Action: resource.RequestReboot, Mode: resource.StopSoft, NotAfter: at(60 * sec)}}
		y.read(off, 3*sec, y.answered(""))
		y.read(protocol.PowerOn, 6*sec, nil) // the On that nobody watches
		y.want(ActGraceful)
		y.read(off, 8*sec, y.answered(""))
		y.want(ActArm)
	})
}

// TestNotOurReboot: a server that something else powers on after our stop was not
// rebooted as its claim says, and nobody knows what it boots.
func TestNotOurReboot(t *testing.T) {
	y := story(t, func(s *Snapshot) {
		s.Record.Owners.Provisioned = provisionedBy("claim-1")
		s.Record.Shown.Power = protocol.PowerOn
		s.Requests = []resource.Request{{ID: "r", Action: resource.RequestReboot, Mode: resource.StopHard, NotAfter: at(60 * sec)}}
	})
	y.read(protocol.PowerOn, 1*sec, nil)
	y.want(ActForceOff)
	y.s.Holds = held(resource.StopHard, "h")
	y.read(protocol.PowerOff, 2*sec, y.answered(""))
	y.s.Holds = nil
	y.read(protocol.PowerOn, 3*sec, nil)
	if q := y.p.Record.Requests[0]; q.Outcome != resource.OutcomeUnknown || q.Reason == "" {
		t.Errorf("request %+v", q)
	}
	y.condition(resource.CondUnexpectedPower)
	y.want(ActNone)
}
