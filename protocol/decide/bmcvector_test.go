package decide

import (
	"slices"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// reset reads with a LastResetTime.
func (y *play) reset(p protocol.PowerState, d time.Duration, word string) Plan {
	y.t.Helper()
	o := seen(p, d)
	o.LastResetTime = word
	y.s.Observation, y.s.Result = o, nil
	y.p = Step(at(d), y.s)
	y.s.Record, y.s.Watch = y.p.Record, y.p.Watch
	y.s.Observation = nil
	return y.p
}

// TestResetVectors: a LastResetTime that moves tells of a reset between two reads.
// The odd values are Dell's (0000-00-00), OpenBMC's before its clock is set (1970),
// and BMCs that compute it from the uptime.
func TestResetVectors(t *testing.T) {
	const on, off = protocol.PowerOn, protocol.PowerOff
	const first, later = "2026-11-20T07:00:00Z", "2026-11-20T07:30:00+00:00"
	idle := func(s *Snapshot) { s.Intent.Power, s.Intent.Owner.UID, s.Intent.Boot = "", "", nil }
	for _, tt := range []struct {
		name  string
		words []string
		want  bool
	}{
		{"moved", []string{first, later}, true},
		{"the same moment in another zone", []string{first, "2026-11-20T09:00:00+02:00"}, false},
		{"computed from the uptime", []string{first, "2026-11-20T07:00:02Z", "2026-11-20T07:00:09Z", "2026-11-20T07:00:16Z"}, false},
		{"earlier: the clock was set", []string{later, first}, false},
		{"the clock began again", []string{first, "1970-01-01T00:00:05Z", "1970-01-01T00:09:00Z"}, false},
		{"zeros", []string{"0000-00-00T00:00:00+00:00", later}, false},
		{"absent for a while", []string{first, "", later}, true},
		{"no time", []string{first, "yesterday"}, false},
	} {
		for _, p := range []protocol.PowerState{on, off} {
			t.Run(tt.name+" "+string(p), func(t *testing.T) {
				y := story(t, idle)
				for i, w := range tt.words {
					y.reset(p, time.Duration(i*15)*sec, w)
				}
				wantEpoch := map[bool]uint64{true: 1}[tt.want] + map[protocol.PowerState]uint64{on: 1}[p]
				if got := y.p.Record.Unexpected != nil; got != tt.want || y.p.Record.Shown.Epoch != wantEpoch {
					t.Errorf("unexpected %t, epoch %d; want %t, %d", got, y.p.Record.Shown.Epoch, tt.want, wantEpoch)
				}
			})
		}
	}
	t.Run("under a hold: the receipt is void", func(t *testing.T) {
		y := story(t, func(s *Snapshot) { idle(s); s.Holds = held(resource.StopSoft, "h") })
		y.reset(off, 1*sec, first)
		y.reset(off, 7*sec, first)
		y.receipt("h", true)
		epoch := y.p.Record.Shown.Epoch
		y.reset(off, 20*sec, later)
		y.receipt("h", false)
		y.happened(resource.EventHoldViolated)
		y.happened(resource.EventUnexpected)
		y.condition(resource.CondHoldViolated)
		if y.p.Record.Shown.Epoch != epoch+1 {
			t.Errorf("epoch %d after %d", y.p.Record.Shown.Epoch, epoch)
		}
		y.reset(off, 26*sec, later)
		y.receipt("h", true)
		if rc := y.p.Record.Holds.Receipts["h"]; !rc.StoppedSince.After(at(19*sec)) || rc.PowerEpoch != epoch+1 {
			t.Errorf("receipt %+v", rc)
		}
	})
	t.Run("while the agent was down", func(t *testing.T) {
		y := story(t, func(s *Snapshot) { idle(s); s.Holds = held(resource.StopSoft, "h") })
		y.reset(off, 1*sec, first)
		y.reset(off, 7*sec, first)
		y.receipt("h", true)
		y.restart()
		y.reset(off, 20*sec, later)
		y.receipt("h", false)
		y.condition(resource.CondHoldViolated)
	})
	t.Run("by our own order", func(t *testing.T) {
		y := story(t, func(s *Snapshot) { s.Intent.Power = resource.WantOff })
		y.reset(on, 1*sec, first)
		y.want(ActGraceful)
		y.reset(off, 4*sec, first)
		y.reset(off, 20*sec, later)
		if y.p.Record.Unexpected != nil {
			t.Error("our stop counts as unexpected")
		}
	})
	t.Run("a reset that a poll would show is told once", func(t *testing.T) {
		y := story(t, idle)
		y.reset(off, 1*sec, first)
		y.reset(on, 20*sec, later)
		told := slices.DeleteFunc(y.p.Happened, func(e resource.Event) bool { return e.Code != resource.EventUnexpected })
		if len(told) != 1 || y.p.Record.Shown.Epoch != 1 {
			t.Errorf("epoch %d, happened %v", y.p.Record.Shown.Epoch, y.p.Happened)
		}
	})
}

// TestIdentityVectors: a changed board stops power-ons, and nothing else.
func TestIdentityVectors(t *testing.T) {
	const on, off = protocol.PowerOn, protocol.PowerOff
	known := Identity{Serial: "S1", UUID: "u1", MACs: []string{"02:00:00:00:00:01"}}
	other := Identity{Serial: "S2", UUID: "u1", MACs: []string{"02:00:00:00:00:01"}}
	read := func(y *play, id Identity, p protocol.PowerState, d time.Duration) Plan {
		y.s.Identity = &id
		y.read(p, d, nil)
		y.s.Identity = nil
		return y.p
	}
	done := func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-1") }
	changed := func(y *play, want bool) {
		y.t.Helper()
		if k := y.p.Record.Identity; (k != nil && k.Other != nil) != want {
			y.t.Fatalf("identity %+v, changed is %t", k, want)
		}
	}
	for name, tell := range map[string]func(t *testing.T){
		"another serial number, until it is accepted": func(t *testing.T) {
			y := story(t, done)
			read(y, known, protocol.PowerUnreachable, 0)
			changed(y, false)
			read(y, other, off, sec)
			y.want(ActNone)
			y.happened(resource.EventIdentity)
			y.condition(resource.CondIdentityChanged)
			y.s.Intent.Identity = known.Digest() // not that one
			y.read(off, 2*sec, nil)
			y.want(ActNone)
			y.restart()
			y.read(off, 3*sec, nil)
			y.want(ActNone)
			y.s.Intent.Identity = y.p.Record.Identity.Digest()
			y.read(off, 4*sec, nil)
			y.want(ActArm)
			changed(y, false)
		},
		"the old board is put back": func(t *testing.T) {
			y := story(t, done)
			read(y, known, protocol.PowerUnreachable, 0)
			read(y, other, off, sec)
			read(y, known, off, 2*sec)
			changed(y, false)
			y.want(ActArm)
		},
		"what a BMC shows only sometimes is no change": func(t *testing.T) {
			y := story(t, nil)
			read(y, Identity{Serial: "S1"}, on, 0)
			read(y, known, on, sec)
			read(y, Identity{UUID: "u1"}, on, 2*sec)
			changed(y, false)
			if y.p.Record.Identity.Digest() != known.Digest() {
				t.Errorf("%+v", y.p.Record.Identity)
			}
			read(y, Identity{UUID: "u2"}, on, 3*sec)
			changed(y, true)
		},
		"an interface was changed": func(t *testing.T) {
			y := story(t, nil)
			read(y, known, on, 0)
			read(y, Identity{Serial: "S1", UUID: "u1", MACs: []string{"02:00:00:00:00:02"}}, on, sec)
			changed(y, true)
		},
		"an agent that lost its disk, and another was accepted": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { done(s); s.Intent.Identity = other.Digest() })
			read(y, known, off, sec)
			changed(y, true)
			y.want(ActNone)
			read(y, other, off, 2*sec)
			changed(y, false)
			y.want(ActArm)
		},
		"between arm and On": func(t *testing.T) {
			y := story(t, nil)
			read(y, known, off, 0)
			y.want(ActArm)
			r := y.answered("")
			y.s.Identity = &other
			y.read(off, sec, r)
			y.s.Identity = nil
			y.want(ActNone)
			y.read(off, 2*sec, nil)
			y.want(ActDisarm)
		},
		"On is not repeated": func(t *testing.T) {
			y := story(t, done)
			read(y, known, off, 0)
			y.read(off, sec, y.answered(""))
			y.want(ActOn)
			y.read(off, 2*sec, y.answered(""))
			read(y, other, off, 20*sec)
			y.want(ActNone)
		},
		"stops and holds go on": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Holds = held(resource.StopHard, "h") })
			read(y, known, on, 0)
			y.want(ActForceOff)
			read(y, other, on, 12*sec)
			y.want(ActForceOff)
			y.read(off, 13*sec, y.answered(""))
			y.read(off, 19*sec, nil)
			y.receipt("h", true)
			y.condition(resource.CondIdentityChanged)
		},
	} {
		t.Run(name, tell)
	}
}

// TestIdentityOf: an inventory of which a part failed for now says nothing.
func TestIdentityOf(t *testing.T) {
	inv := protocol.Inventory{Serial: "S", UUID: "u", Interfaces: []protocol.Interface{{MAC: "b"}, {MAC: "a"}, {MAC: "c", Internal: "usb"}, {MAC: "a"}}}
	id, ok := IdentityOf(inv)
	if want := (Identity{Serial: "S", UUID: "u", MACs: []string{"a", "b"}}); !ok || id.Digest() != want.Digest() {
		t.Errorf("%+v", id)
	}
	inv.UUIDProblem = "it is empty"
	if id, _ := IdentityOf(inv); id.UUID != "" {
		t.Errorf("%+v", id)
	}
	for code, want := range map[protocol.Code]bool{protocol.CodeTimeout: false, protocol.CodeUnavailable: false, protocol.CodeDenied: false, protocol.CodeNotFound: true} {
		inv.Problems = []protocol.PartProblem{{Part: "Bios", Code: protocol.CodeTimeout}, {Part: "NetworkAdapters", Code: code}}
		if _, ok := IdentityOf(inv); ok != want {
			t.Errorf("%s: %t", code, ok)
		}
	}
	if _, ok := IdentityOf(protocol.Inventory{UUIDProblem: "there is none"}); ok {
		t.Error("nothing identifies it")
	}
}

// TestPace: a BMC that asked for a pause, or is not asked because it does not answer,
// is left alone for as long, and not for longer than between two polls.
func TestPace(t *testing.T) {
	for _, tt := range []struct{ after, want time.Duration }{
		{0, activeInterval}, {5 * sec, 5 * sec}, {time.Hour, 15 * sec},
	} {
		y := story(t, func(s *Snapshot) { s.Holds = held(resource.StopHard, "h") })
		y.s.Busy, y.s.RetryAfter = true, tt.after
		y.read(protocol.PowerUnknown, sec, nil)
		y.condition(resource.CondBMCBusy)
		if got := y.p.RecheckAt.Sub(at(sec)); got != tt.want {
			t.Errorf("%s: read again after %s, want %s", tt.after, got, tt.want)
		}
	}
}

// TestPowerVectors are the rows of the power sequence (docs/SOURCES.md) that other
// vectors do not have.
func TestPowerVectors(t *testing.T) {
	const on, off = protocol.PowerOn, protocol.PowerOff
	done := func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-1") }
	t.Run("soft that is not offered, or refused with 4xx, is hard at once", func(t *testing.T) {
		for code, want := range map[protocol.Code]ActionKind{
			protocol.CodeUnsupported: ActForceOff, protocol.CodeInvalid: ActForceOff, protocol.CodeConflict: ActForceOff,
			protocol.CodeNotFound: ActForceOff, protocol.CodeDenied: ActForceOff,
			protocol.CodeUnavailable: ActNone, protocol.CodeTimeout: ActNone,
		} {
			y := story(t, func(s *Snapshot) { s.Holds = held(resource.StopSoft, "h") })
			y.read(on, 0, nil)
			y.want(ActGraceful)
			y.read(on, sec, y.answered(code))
			if y.p.Action.Kind != want {
				t.Errorf("%s: %s, want %s", code, y.p.Action.Kind, want)
			}
		}
	})
	t.Run("On is sent for 300 s, and after that at a capped pace", func(t *testing.T) {
		y := story(t, done)
		sent, last, longest := 0, time.Duration(0), time.Duration(0)
		var r *Result
		for d := time.Duration(0); d < 4*time.Hour; d += sec {
			y.read(off, d, r)
			if r = nil; y.p.Action.Kind == ActNone {
				continue
			}
			r = y.answered("")
			if y.p.Action.Kind == ActOn {
				longest, last, sent = max(longest, d-last), d, sent+1
			}
		}
		if sent < 600 || longest > attemptMaxPause+30*sec || 4*time.Hour-last > attemptMaxPause+30*sec {
			t.Errorf("On was sent %d times, with pauses up to %s, the last %s before the end", sent, longest, 4*time.Hour-last)
		}
	})
	t.Run("On that is refused for a while waits as long as it is told (iDRAC 10)", func(t *testing.T) {
		y := story(t, done)
		y.read(off, 0, nil)
		y.read(off, sec, y.answered(""))
		y.want(ActOn)
		r := y.answered(protocol.CodeConflict)
		r.Busy, r.RetryAfter = true, 25*sec
		y.read(off, 2*sec, r)
		y.condition(resource.CondBMCBusy)
		y.read(off, 20*sec, nil)
		y.want(ActNone)
		y.read(off, 27*sec, nil)
		y.want(ActOn)
	})
	t.Run("one kind's failures are not another's", func(t *testing.T) {
		y := story(t, func(s *Snapshot) { s.Holds = held(resource.StopHard, "h") })
		y.read(on, 0, nil)
		y.read(on, sec, y.answered(protocol.CodeUnavailable))
		y.condition(resource.CondPowerFailed)
		y.read(off, 2*sec, nil)
		for _, c := range y.p.Record.Conditions {
			if c.Code == resource.CondPowerFailed {
				t.Errorf("condition %+v after it is Off", c)
			}
		}
		if len(y.p.Watch.Refused) != 0 {
			t.Errorf("refused %+v", y.p.Watch.Refused)
		}
	})
	t.Run("Off that lags behind an On is no end (beskar7 203)", func(t *testing.T) {
		y := story(t, nil)
		y.read(off, 0, nil)
		y.read(off, sec, y.answered(""))
		y.want(ActOn)
		y.bmc = disarmed() // firmware took it
		y.s.Events = []Event{{Kind: protocol.EvidenceDHCP, Class: protocol.ClassHTTPClient, At: at(2 * sec)}}
		y.read(off, 2*sec, y.answered(""))
		if s := y.p.Record.Attempt.Stage.State; s != resource.AttemptConsumed {
			t.Fatalf("attempt %s: %s", s, y.p.Record.Attempt.Stage.Ending.Reason)
		}
		y.read(off, 2*sec+onUnseen+sec, nil)
		if s := y.p.Record.Attempt.Stage.State; s != resource.AttemptFailed {
			t.Errorf("attempt %s", s)
		}
	})
}
