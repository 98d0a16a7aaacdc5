package decide

import (
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestBootVectors are behaviours that a faithful boot policy shows. Not here: the half
// of row 5 about maintenance (no maintenance yet), Enabled=Disabled per vendor (12)
// and the choice of reset types in row 23 (driver), the condition of row 16
// (ReprovisionRequired is the hub's; here only that nothing changes silently).
func TestBootVectors(t *testing.T) {
	const on, off = protocol.PowerOn, protocol.PowerOff
	done := func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-1") }
	for name, tell := range map[string]func(t *testing.T){
		"5 no mark is the first boot": func(t *testing.T) {
			y := story(t, nil)
			y.read(off, sec, nil)
			y.want(ActArm)
			if o := y.p.Action.Override; o.Target != protocol.TargetUefiHTTP || o.Enabled != protocol.OverrideOnce || !y.p.Persist {
				t.Errorf("%+v", y.p.Action)
			}
		},
		"5 a mark is Hdd, own or echoed": func(t *testing.T) {
			for _, change := range []func(*Snapshot){done, func(s *Snapshot) { s.Echo = provisionedBy("claim-1") }} {
				y := story(t, change)
				y.read(off, sec, nil)
				y.want(ActArm)
				if o := y.p.Action.Override; o.Target != protocol.TargetHdd || o.Enabled != protocol.OverrideOnce {
					t.Errorf("%+v", o)
				}
			}
		},
		"5 no mark and no grant is nothing": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Grant = nil })
			y.read(off, sec, nil)
			y.want(ActNone)
			y.condition(resource.CondGrantMissing)
		},
		"8 went Off by itself": func(t *testing.T) {
			y := story(t, done)
			y.read(on, sec, nil)
			y.read(off, 5*sec, nil)
			y.want(ActNone)
			y.happened(resource.EventUnexpected)
			y.condition(resource.CondUnexpectedPower)
			y.read(off, time.Hour, nil)
			y.want(ActNone)
			y.s.Requests = []resource.Request{{ID: "r", Action: resource.RequestReboot, NotAfter: at(2 * time.Hour)}}
			y.read(off, time.Hour+sec, nil)
			y.read(off, time.Hour+2*sec, nil)
			y.want(ActArm)
		},
		"8 came On by itself": func(t *testing.T) {
			y := story(t, done)
			y.s.Intent.Power = resource.WantOff
			y.read(off, sec, nil)
			y.s.Intent.Power = ""
			y.read(on, 5*sec, nil)
			y.want(ActNone)
			y.condition(resource.CondUnexpectedPower)
		},
		"9 disarmed when the power action fails": func(t *testing.T) {
			y := story(t, nil)
			y.read(off, 0, nil)
			y.want(ActArm)
			y.read(off, sec, y.answered(""))
			y.want(ActOn)
			y.read(off, sec+onTimeout, y.answered(protocol.CodeUnavailable))
			if a := y.p.Record.Attempt; a.Stage.State != resource.AttemptFailed {
				t.Fatalf("attempt %s", a.Stage.State)
			}
			y.read(off, 2*sec+onTimeout, nil)
			y.want(ActDisarm)
			y.read(off, 3*sec+onTimeout, y.answered(""))
			if y.bmc.Armed() {
				t.Error("the override stays")
			}
		},
		"9 disarmed when a hold comes between arm and power": func(t *testing.T) {
			y := story(t, nil)
			y.read(off, sec, nil)
			r := y.answered("")
			y.s.Holds = held(resource.StopSoft, "h")
			y.read(off, 2*sec, r)
			y.want(ActDisarm)
		},
		"9 not stored is not powered on": func(t *testing.T) {
			y := story(t, nil)
			y.read(off, sec, nil)
			r := y.answered("")
			r.Stored, y.bmc = protocol.Override{Target: protocol.TargetNone, Enabled: protocol.OverrideDisabled}, protocol.Override{}
			r.Outcome = protocol.BootDropped
			y.read(off, 2*sec, r)
			y.want(ActNone)
			y.condition(resource.CondOverrideNotStored)
		},
		"9 replaced by another party before On": func(t *testing.T) {
			y := story(t, nil)
			y.read(off, sec, nil)
			r := y.answered("")
			y.bmc = protocol.Override{Target: protocol.TargetPxe, Enabled: protocol.OverrideOnce}
			y.read(off, 2*sec, r)
			y.want(ActNone)
			y.condition(resource.CondFirstBootFailed)
		},
		"10 nothing is written while On and armed": func(t *testing.T) {
			y := story(t, done)
			y.read(off, 0, nil)
			y.read(off, sec, y.answered(""))
			y.want(ActOn)
			y.keeps = true
			for d := 2 * sec; d < consumeTimeout; d += 10 * sec {
				y.read(on, d, nil)
				y.want(ActNone)
			}
			y.read(on, 2*sec+consumeTimeout, nil)
			y.want(ActNone)
			y.condition(resource.CondPowerFailed)
		},
		"11 refused during POST": func(t *testing.T) {
			y := story(t, nil)
			y.read(off, 0, nil)
			y.want(ActArm)
			r := y.answered(protocol.CodeConflict)
			r.Busy, r.Outcome = true, protocol.BootRefusedByState
			y.read(off, sec, r)
			y.want(ActNone)
			y.condition(resource.CondBMCBusy)
			y.read(off, sec+attemptBackoff, nil)
			y.want(ActArm)
			if n := y.p.Record.Owners.Used["claim-1/1"].Attempts; n != 1 {
				t.Errorf("%d attempts were used", n)
			}
		},
		"15 fetched is not provisioned, installed is": func(t *testing.T) {
			y := story(t, nil)
			y.read(off, 0, nil)
			y.read(off, sec, y.answered(""))
			y.read(on, 2*sec, y.answered(""))
			y.s.Events = []Event{{Begun: true, Token: "token"}, {Kind: protocol.EvidenceFetched, File: "boot.efi", Token: "token"}}
			y.read(on, 3*sec, nil)
			if y.p.Record.Owners.Provisioned != nil || y.p.Record.Attempt.Stage.State != resource.AttemptFetched {
				t.Fatalf("%+v", y.p.Record)
			}
			y.s.Events = []Event{{Kind: protocol.EvidenceInstalled, Token: "token", At: at(4 * sec)}}
			y.read(on, 4*sec, nil)
			if p := y.p.Record.Owners.Provisioned; p == nil || p.Evidence != protocol.EvidenceInstalled || p.ImageDigest != "sha256:image" {
				t.Errorf("%+v", p)
			}
		},
		"15 nobody fetches": func(t *testing.T) {
			y := story(t, nil)
			y.read(off, 0, nil)
			y.read(off, sec, y.answered(""))
			y.read(on, 2*sec, y.answered(""))
			for d := 3 * sec; d < 2*sec+fetchTimeout; d += 10 * sec {
				y.read(on, d, nil)
				y.want(ActNone)
				if len(y.p.Happened) > 0 {
					t.Fatalf("happened %v", y.p.Happened)
				}
			}
			y.read(on, 3*sec+fetchTimeout, nil)
			y.condition(resource.CondFirstBootFailed)
			y.read(on, 4*sec+fetchTimeout, nil)
			y.want(ActForceOff)
		},
		"16 another digest under a mark": func(t *testing.T) {
			y := story(t, done)
			y.s.Intent.Boot.Image.Digest = "sha256:other"
			y.read(off, sec, nil)
			if o := y.p.Action.Override; o.Target != protocol.TargetHdd {
				t.Errorf("%+v", y.p.Action)
			}
		},
		"16 another digest than the grant's": func(t *testing.T) {
			y := story(t, nil)
			y.s.Intent.Boot.Image.Digest = "sha256:other"
			y.read(off, sec, nil)
			y.want(ActNone)
			y.condition(resource.CondGrantInvalid)
		},
		"17 the mark is of another claim of the same name": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-0") })
			y.read(off, sec, nil)
			if o := y.p.Action.Override; o.Target != protocol.TargetUefiHTTP {
				t.Errorf("%+v", y.p.Action)
			}
		},
		"23 graceful to forced with a deadline, at release": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { done(s); s.Intent.Releasing = true })
			y.read(on, sec, nil)
			y.want(ActGraceful)
			y.read(on, 2*sec, y.answered(""))
			y.want(ActNone)
			y.read(on, 22*sec, nil)
			y.want(ActForceOff)
			y.read(off, 23*sec, y.answered(""))
			y.read(off, 28*sec, nil)
			if y.p.Record.Owners.Released != "claim-1" {
				t.Errorf("released %q", y.p.Record.Owners.Released)
			}
		},
		"23 busy graceful is repeated with a pause": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Holds = held(resource.StopSoft, "h") })
			y.read(on, sec, nil)
			y.want(ActGraceful)
			r := y.answered(protocol.CodeUnavailable)
			r.Busy = true
			y.read(on, 2*sec, r)
			y.want(ActNone)
			y.read(on, 2*sec+retryStop, nil)
			y.want(ActGraceful)
		},
	} {
		t.Run(name, tell)
	}
}
