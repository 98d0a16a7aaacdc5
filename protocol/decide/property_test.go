//go:build !race

// Nothing here runs side by side, and the race detector makes it thirty times as
// slow.

package decide

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/protocol"
)

// want changes what the intent says, in a copy: documents replace each other.
func (w *world) want(change func(*protocol.ServerIntent)) {
	if w.intent != nil {
		in := *w.intent
		change(&in)
		w.intent = &in
		w.poke()
	}
}

func (w *world) hold(mode protocol.StopMode) { w.place(protocol.ActiveHold{Mode: mode}) }

// place enforces a hold with the given terms.
func (w *world) place(h protocol.ActiveHold) (id string) {
	w.ids++
	h.ID, h.Server, h.Key = fmt.Sprintf("hold-%d", w.ids), "server-1", "k"
	w.holds = append(slices.Clone(w.holds), Hold{EnforcedAt: w.clock(), ActiveHold: h})
	w.enforced[h.ID] = w.now
	w.poke()
	return h.ID
}

// terms draws what a hold may say beside its mode, also what no agent knows.
func terms(t *rapid.T, mode protocol.StopMode) protocol.ActiveHold {
	return protocol.ActiveHold{
		Mode:                rapid.SampledFrom([]protocol.StopMode{mode, mode, "medium", ""}).Draw(t, "word"),
		TTL:                 time.Duration(rapid.SampledFrom([]int{0, -1, 1, 2, 10}).Draw(t, "ttl")) * time.Minute,
		OnExpiry:            rapid.SampledFrom([]protocol.OnExpiry{"", protocol.ExpiryKeep, protocol.ExpiryRelease, protocol.ExpiryRelease, "later"}).Draw(t, "onExpiry"),
		ForceDuringFirmware: rapid.Bool().Draw(t, "force"),
	}
}

// confirm adds an operator's word to a hold.
func (w *world) confirm(i int) {
	w.holds = slices.Clone(w.holds)
	w.holds[i].ConfirmedDown = &protocol.Confirmation{By: "ann", Reason: "cable pulled", At: w.clock()}
	w.poke()
}

// work marks firmware work from now on; 0 ends it.
func (w *world) work(d time.Duration) {
	w.firmware = nil
	if d > 0 {
		w.firmware = &protocol.FirmwareWork{By: "ann", Reason: "BIOS", Since: w.hubTime(), NotAfter: w.hubTime().Add(d)}
	}
	w.poke()
}

// mains is an outage of mains power.
func (w *world) mains() {
	if w.m.power != protocol.PowerOff {
		w.w.unseenOff = true
	}
	w.m.mains()
	if w.m.power != protocol.PowerOff {
		w.w.blind, w.w.outside = true, true
	}
}

// actions are what may happen to a server, drawn by rapid.
func (w *world) actions() map[string]func(*rapid.T) {
	stop := rapid.SampledFrom([]protocol.StopMode{protocol.StopSoft, protocol.StopHard})
	often := rapid.Bool()
	return map[string]func(*rapid.T){
		"time":  func(t *rapid.T) { w.run(time.Duration(rapid.IntRange(1, 40_000).Draw(t, "ms")) * time.Millisecond) },
		"hours": func(t *rapid.T) { w.run(time.Duration(rapid.IntRange(1, 20).Draw(t, "minutes")) * time.Minute) },
		"claim": func(t *rapid.T) {
			if w.intent == nil || w.intent.ClaimUID == "" {
				w.claim(rapid.IntRange(1, 3).Draw(t, "attempts"))
			}
		},
		"power": func(t *rapid.T) {
			p := rapid.SampledFrom([]protocol.Power{protocol.WantOn, protocol.WantOff}).Draw(t, "power")
			w.want(func(in *protocol.ServerIntent) {
				if in.ClaimUID != "" {
					in.Power = p
				}
			})
		},
		"release claim": func(*rapid.T) {
			w.want(func(in *protocol.ServerIntent) { in.Releasing = in.ClaimUID != "" })
		},
		"unclaim": func(*rapid.T) {
			if w.intent != nil && w.intent.Releasing && w.record().Released == w.intent.ClaimUID {
				w.want(func(in *protocol.ServerIntent) {
					in.Claim, in.ClaimUID, in.Power, in.Releasing, in.Boot = "", "", "", false, nil
				})
			}
		},
		"hold":            func(t *rapid.T) { w.hold(stop.Draw(t, "mode")) },
		"hold with terms": func(t *rapid.T) { w.place(terms(t, stop.Draw(t, "mode"))) },
		"confirm down": func(t *rapid.T) {
			if n := len(w.holds); n > 0 {
				w.confirm(rapid.IntRange(0, n-1).Draw(t, "hold"))
			}
		},
		"firmware work": func(t *rapid.T) {
			w.work(time.Duration(rapid.SampledFrom([]int{0, 5, 60, 600}).Draw(t, "seconds")) * time.Second)
		},
		"firmware work in a call": func(*rapid.T) {
			w.midCall = func() { w.work(time.Minute) }
		},
		"mains fails": func(*rapid.T) { w.mains() },
		"restore policy": func(t *rapid.T) {
			p := rapid.SampledFrom([]protocol.RestorePolicy{protocol.RestoreAlwaysOn, protocol.RestoreAlwaysOff, protocol.RestoreLastState}).Draw(t, "policy")
			if w.record().Guard == nil && w.m.policy == w.m.own { // else people and agent would undo each other
				w.m.policy, w.m.own = p, p
			}
		},
		"hold in a call": func(t *rapid.T) {
			mode := stop.Draw(t, "mode")
			w.midCall = func() { w.hold(mode) }
		},
		"release": func(t *rapid.T) {
			if n := len(w.holds); n > 0 {
				w.release(rapid.IntRange(0, n-1).Draw(t, "hold"))
			}
		},
		"reboot":    func(t *rapid.T) { w.request(t, protocol.RequestReboot, stop.Draw(t, "mode")) },
		"power off": func(t *rapid.T) { w.request(t, protocol.RequestPowerOff, stop.Draw(t, "mode")) },
		"hub heard": func(*rapid.T) {
			w.heard = true
			w.poke()
		},
		"hub time lost":   func(*rapid.T) { w.heard = false },
		"renew":           func(*rapid.T) { w.renew() },
		"forget requests": func(*rapid.T) { w.requests = nil },
		"someone powers it on": func(*rapid.T) {
			if w.m.power == protocol.PowerOff {
				w.w.blind = w.w.blind || w.w.unseenOff
				w.w.outside = true
				w.m.powerOn()
			}
		},
		"someone cuts power": func(*rapid.T) {
			w.w.unseenOff = w.w.unseenOff || w.m.power != protocol.PowerOff
			w.m.off()
		},
		"someone resets it": func(*rapid.T) {
			if w.m.power == protocol.PowerOn {
				w.w.blind, w.w.outside = true, true // what it boots then, its boot order says
				w.m.restart()
			}
		},
		"the BMC's clock is set": func(t *rapid.T) { w.m.clock = time.Duration(rapid.IntRange(0, 2000).Draw(t, "hours")) * time.Hour },
		"identity is read":       func(*rapid.T) { w.identify() },
		"board is changed": func(t *rapid.T) {
			w.m.identity = Identity{Serial: rapid.SampledFrom([]string{"S1", "S2", ""}).Draw(t, "serial"), MACs: rapid.SampledFrom([][]string{nil, {"02:00:00:00:00:01"}, {"02:00:00:00:00:02"}}).Draw(t, "macs")}
			if w.m.identity.Serial != "" {
				w.identify()
			}
		},
		"identity is accepted": func(*rapid.T) { w.accept() },
		"someone arms PXE": func(*rapid.T) {
			// While firmware starts, it may be taken before any read shows it.
			w.w.blind = w.w.blind || w.m.power != protocol.PowerOff || w.m.onDue > 0
			w.m.override = protocol.Override{Target: protocol.TargetPxe, Enabled: protocol.OverrideOnce}
		},
		"crash while serving": func(*rapid.T) { w.when(func() bool { return w.m.loading }, w.restart) },
		"hold before On takes effect": func(t *rapid.T) {
			mode := stop.Draw(t, "mode")
			w.when(func() bool { return w.m.onDue > 0 }, func() { w.hold(mode) })
		},
		"crash":     func(t *rapid.T) { w.crashIn = rapid.IntRange(1, 6).Draw(t, "in") },
		"restart":   func(*rapid.T) { w.restart() },
		"artefacts": func(t *rapid.T) { w.local = often.Draw(t, "local"); w.poke() },
		"step clock": func(t *rapid.T) {
			w.stepClock(time.Duration(rapid.IntRange(-600, 600).Draw(t, "seconds")) * time.Second)
		},
		"heal":   func(*rapid.T) { w.m.faults = faults{} },
		"faults": func(t *rapid.T) { w.m.faults = drawFaults(t) },
	}
}

// identify reads the board, as the agent does beside power control.
func (w *world) identify() {
	id := w.m.identity
	w.read = &id
	w.poke()
}

// accept is an operator who takes the server for the right one.
func (w *world) accept() {
	if k := w.record().Identity; k != nil && k.Other != nil {
		w.want(func(in *protocol.ServerIntent) { in.Identity = k.Digest() })
	}
}

// request asks for something once, of this disk or of another.
func (w *world) request(t *rapid.T, action protocol.RequestAction, mode protocol.StopMode) {
	w.ids++
	r := protocol.Request{
		ID: fmt.Sprintf("request-%d", w.ids), Server: "server-1", Action: action, Mode: mode,
		NotAfter:    w.hubTime().Add(time.Duration(rapid.IntRange(-5, 60).Draw(t, "ahead")) * time.Second),
		AnyPhase:    rapid.Bool().Draw(t, "anyPhase"),
		Incarnation: rapid.SampledFrom([]string{w.incarnation, w.incarnation, w.incarnation, "", "disk-x"}).Draw(t, "given"),
	}
	w.requests = append(slices.Clone(w.requests), r)
	w.poke()
}

// when does something at a moment that seldom comes, if it comes within a minute.
func (w *world) when(is func() bool, do func()) {
	for range 120 {
		if is() {
			do()
			return
		}
		w.run(500 * time.Millisecond)
	}
}

func (w *world) stepClock(d time.Duration) {
	w.offset += d
	w.w.stepped = true
}

func drawFaults(t *rapid.T) (f faults) {
	shown := rapid.SampledFrom([]protocol.PowerState{"", "", "", protocol.PowerUnknown, protocol.PowerUnreachable, protocol.PowerPoweringOff})
	f.Shown = shown.Draw(t, "shown")
	f.OnDelay = time.Duration(rapid.IntRange(0, 9).Draw(t, "onDelay")) * time.Second
	for _, b := range []*bool{&f.DropOn, &f.RefuseOn, &f.RefuseStop, &f.NoGraceful, &f.IgnoreSoft, &f.HangSoft, &f.DropForce, &f.DropArm, &f.RefuseArm, &f.KeepArmed, &f.Coerce, &f.Revert, &f.LoseAnswers, &f.NoPolicy, &f.BusyPolicy} {
		*b = rapid.IntRange(0, 5).Draw(t, "fault") == 0
	}
	return f
}

// TestProperties lets everything happen in any order and checks the promises P1
// to P4, P6 and P9 at every step; then everything answers for long enough, and
// the server must be where it belongs.
func TestProperties(t *testing.T) {
	for i := range 4 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			properties(t)
		})
	}
}

func properties(t *testing.T) {
	var steps, provisions, receipts, disk, errors int
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		if rapid.IntRange(0, 3).Draw(t, "claimed") > 0 {
			w.m.faults.OnDelay = time.Duration(rapid.IntRange(0, 9).Draw(t, "onDelay")) * time.Second
			w.claim(rapid.IntRange(1, 3).Draw(t, "attempts"))
			w.run(time.Duration(rapid.IntRange(0, 120).Draw(t, "seconds")) * time.Second)
		}
		t.Repeat(w.actions())
		w.m.faults, w.midCall, w.crashIn, w.local, w.heard = faults{}, nil, 0, true, true
		w.requests = nil
		w.work(0)
		w.identify()
		if len(w.holds) > 0 && w.offset != 0 {
			w.run(20 * time.Minute) // until the clock has passed what it was
		}
		if w.settled() {
			disk++
		} else {
			errors++
		}
		steps += w.w.steps
		provisions += w.w.provisions
		receipts += w.w.receipts
	})
	t.Logf("%d steps, %d provisioned, %d receipts; at the end %d well, %d with a condition", steps, provisions, receipts, disk, errors)
}

// settled runs the world until the server is where it belongs, or a registered
// condition says why it is not. It fails when neither comes.
func (w *world) settled() bool {
	for range 20 * 60 {
		w.run(10 * time.Second)
		w.accept()
		if w.well() {
			return true
		}
		if w.stuck() {
			return false
		}
	}
	w.t.Fatalf("nothing says why the server is not where it belongs: machine %s, holds %d, intent %+v\nrecord %s\nconditions %+v",
		w.m.power, len(w.holds), w.intent, w.disk, w.conds)
	return false
}

// well says whether the server is where it belongs.
func (w *world) well() bool {
	rec := w.record()
	if slices.ContainsFunc(rec.Requests, func(s RequestState) bool {
		return s.Outcome == protocol.OutcomePending && s.Action == protocol.RequestPowerOff
	}) {
		return false
	}
	// What another party armed is not ours to clear.
	off := w.m.power == protocol.PowerOff && (!w.m.override.Armed() || w.m.override.Target == protocol.TargetPxe)
	if len(w.holds) == 0 && (rec.Guard != nil || w.m.policy != w.m.own) {
		return false
	}
	switch {
	case len(w.holds) > 0:
		return off && len(rec.Receipts) == len(w.holds) && len(rec.Manual) == 0
	case w.intent == nil || w.intent.ClaimUID == "":
		return true
	case w.intent.Releasing:
		return off && rec.Released == w.intent.ClaimUID
	case w.intent.Power == protocol.WantOff:
		return off
	default:
		a := rec.Attempt
		return w.m.power == protocol.PowerOn && (w.m.os || w.w.blind) && provisioned(w.intent.Boot, rec.Provisioned, nil) &&
			a != nil && a.State == protocol.AttemptSucceeded && !a.Network()
	}
}

// stuck says whether a condition tells an operator what to do.
func (w *world) stuck() bool {
	if len(w.holds) > 0 || w.record().Guard != nil || w.m.policy != w.m.own || w.intent == nil || w.intent.Releasing || w.intent.Power != protocol.WantOn {
		return false // stopping needs nobody
	}
	return slices.ContainsFunc(w.conds, func(c protocol.ConditionState) bool {
		switch c.Code {
		case protocol.CondGrantSpent, protocol.CondGrantInvalid, protocol.CondUnexpectedPower, protocol.CondServerOn, protocol.CondFirstBootFailed, protocol.CondPowerFailed:
			return !w.record().Attempt.Open() && !w.clock().Before(w.watch.NextTry)
		}
		return false
	})
}
