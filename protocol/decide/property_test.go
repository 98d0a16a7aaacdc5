//go:build !race

// Nothing here runs side by side, and the race detector makes it thirty times as
// slow.

package decide

import (
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// terms draws what a hold may say beside its mode, also what no agent knows.
func terms(t *rapid.T, mode resource.StopMode) resource.ActiveHold {
	return resource.ActiveHold{HoldSpec: resource.HoldSpec{HoldTerms: resource.HoldTerms{
		Mode:                rapid.SampledFrom([]resource.StopMode{mode, mode, "medium", ""}).Draw(t, "word"),
		TTL:                 protocol.Duration(time.Duration(rapid.SampledFrom([]int{0, -1, 1, 2, 10}).Draw(t, "ttl")) * time.Minute),
		OnExpiry:            rapid.SampledFrom([]resource.OnExpiry{"", resource.ExpiryKeep, resource.ExpiryRelease, resource.ExpiryRelease, "later"}).Draw(t, "onExpiry"),
		ForceDuringFirmware: rapid.Bool().Draw(t, "force"),
	}}}
}

// confirm adds an operator's word to a hold.
func (w *world) confirm(i int) {
	w.holds = slices.Clone(w.holds)
	w.holds[i].ConfirmedDown = &resource.Confirmation{By: "ann", Reason: "cable pulled", At: w.clock()}
	w.poke()
}

// work marks firmware work from now on; 0 ends it.
func (w *world) work(d time.Duration) {
	w.firmware = nil
	if d > 0 {
		w.firmware = &resource.FirmwareWork{By: "ann", Reason: "BIOS", Since: w.hubTime(), NotAfter: w.hubTime().Add(d)}
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
	stop := rapid.SampledFrom([]resource.StopMode{resource.StopSoft, resource.StopHard})
	often := rapid.Bool()
	return map[string]func(*rapid.T){
		"time":  func(t *rapid.T) { w.run(time.Duration(rapid.IntRange(1, 40_000).Draw(t, "ms")) * time.Millisecond) },
		"hours": func(t *rapid.T) { w.run(time.Duration(rapid.IntRange(1, 20).Draw(t, "minutes")) * time.Minute) },
		"claim": func(t *rapid.T) {
			if w.intent == nil || w.intent.Owner.UID == "" {
				w.claim(rapid.IntRange(1, 3).Draw(t, "attempts"))
				w.drawReach(t)
			}
		},
		"power": func(t *rapid.T) {
			p := rapid.SampledFrom([]resource.Power{resource.WantOn, resource.WantOff}).Draw(t, "power")
			w.want(func(in *message.ServerIntent) {
				if in.Owner.UID != "" && !discovering(in) {
					in.Power = p
				}
			})
			w.w.orders++
		},
		"release claim": func(*rapid.T) {
			w.want(func(in *message.ServerIntent) { in.Releasing = in.Owner.UID != "" })
		},
		"unclaim": func(*rapid.T) {
			if w.intent != nil && w.intent.Releasing && w.record().Owners.Released == w.intent.Owner.UID && !w.giveBack() {
				w.want(func(in *message.ServerIntent) {
					in.Owner.Name, in.Owner.UID, in.Owner.Kind, in.PowerCycle, in.Power, in.Releasing, in.Boot = "", "", "", false, "", false, nil
				})
			}
		},
		"maintenance": func(t *rapid.T) {
			was := w.aside
			w.m.live = often.Draw(t, "live")
			w.maintain(rapid.SampledFrom([]resource.Power{resource.WantOn, resource.WantOn, resource.WantOff}).Draw(t, "power"), rapid.IntRange(1, 3).Draw(t, "attempts"))
			if was == nil && w.aside != nil {
				w.drawReach(t)
			}
		},
		"settings": func(t *rapid.T) {
			w.m.deaf = often.Draw(t, "deaf")
			w.wantSettings(setTo("Quiet", rapid.SampledFrom([]string{"On", "Off"}).Draw(t, "quiet")), setTo("Web", "https://new"))
		},
		"someone inserts a medium": func(*rapid.T) { w.m.foreign = w.m.medium == "" },
		"someone ejects it":        func(*rapid.T) { w.m.medium, w.m.foreign = "", false },
		"someone clears the URL":   func(*rapid.T) { w.m.uri = "" },
		"discovery": func(t *rapid.T) {
			w.fails = often.Draw(t, "fails")
			w.discover(rapid.IntRange(1, 3).Draw(t, "attempts"), often.Draw(t, "cycle"))
		},
		"its system restarts": func(*rapid.T) {
			if w.m.os && w.m.power == protocol.PowerOn {
				w.w.blind, w.w.outside = true, true // without an override its boot order decides
				w.m.restart()
			}
		},
		"installers restart": func(t *rapid.T) { w.m.restarts = often.Draw(t, "restarts") },
		"hold":               func(t *rapid.T) { w.hold(stop.Draw(t, "mode")) },
		"hold with terms":    func(t *rapid.T) { w.place(terms(t, stop.Draw(t, "mode"))) },
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
		"mains fails": func(*rapid.T) {
			w.w.pending = false // an On that firmware has taken nothing for is forgotten
			w.mains()
		},
		"restore policy": func(t *rapid.T) {
			p := rapid.SampledFrom([]protocol.RestorePolicy{protocol.RestoreAlwaysOn, protocol.RestoreAlwaysOff, protocol.RestoreLastState}).Draw(t, "policy")
			if w.record().Guard == nil && w.m.policy == w.m.own { // else people and agent would undo each other
				w.m.policy, w.m.own = p, p
			}
		},
		"the server keeps its restore policy": func(t *rapid.T) {
			if w.intent != nil {
				w.intent.KeepPowerRestorePolicy = rapid.Bool().Draw(t, "keeps")
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
		"reboot":    func(t *rapid.T) { w.request(t, resource.RequestReboot, stop.Draw(t, "mode")) },
		"power off": func(t *rapid.T) { w.request(t, resource.RequestPowerOff, stop.Draw(t, "mode")) },
		"resume": func(t *rapid.T) {
			w.resume(t)
			w.run(time.Duration(rapid.IntRange(0, 90).Draw(t, "seconds")) * time.Second)
		},
		"its firmware asks": func(*rapid.T) {
			w.w.pending = false // forged or not, it is evidence that firmware has taken what was armed, and nobody can know better
			w.events = append(w.events, Event{Kind: protocol.EvidenceDHCP, Class: protocol.ClassHTTPClient, At: w.clock()})
			w.poke()
		},
		"a neighbour reports": func(*rapid.T) {
			a := w.record().Attempt
			if in := w.intent; a != nil && in != nil && in.Boot != nil && in.Boot.RequireEvidence == resource.EvidenceObserved {
				state := a.Stage.State
				w.fold(Event{Kind: protocol.EvidenceInstalled, Token: a.Token, At: w.clock()})
				w.fold(Event{Kind: protocol.EvidenceFailed, Token: a.Token, At: w.clock()})
				if is := w.record().Attempt; state == resource.AttemptFetched && is != nil && is.ID == a.ID && is.Stage.Ending.Code == resource.AttemptImageFailed {
					w.t.Fatalf("a neighbour's word ended %+v", is)
				}
			}
		},
		"another DHCP server comes or goes": func(*rapid.T) {
			if w.private.Diverted == "" {
				w.private.Diverted = "another DHCP server answers"
			} else {
				w.private.Diverted = ""
			}
			w.poke()
		},
		"it has the stop image": func(*rapid.T) {
			w.events = append(w.events, Event{StopImage: true, At: w.clock()})
			w.poke()
		},
		"hub heard": func(*rapid.T) {
			w.heard = true
			w.poke()
		},
		"hub time lost":   func(*rapid.T) { w.heard = false },
		"renew":           func(*rapid.T) { w.renew() },
		"forget requests": func(*rapid.T) { w.requests, w.asked = nil, nil },
		"someone powers it on": func(*rapid.T) {
			if w.m.power == protocol.PowerOff {
				w.w.blind = w.w.blind || w.w.unseenOff
				w.w.outside = true
				w.w.pending = w.w.pending && w.m.onDue > 0 // an On of ours that is under way is this one
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
		"grant": func(t *rapid.T) {
			w.forged = rapid.SampledFrom(forgeries()).Draw(t, "grant")
			w.poke()
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

// drawReach draws whether the owner boots by virtual media, and how its BMC reads, or by a
// URL in its BMC, or by DHCP.
func (w *world) drawReach(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "observed") == 0 {
		w.observed(Private{URL: rapid.Bool().Draw(t, "url"), Medium: rapid.Bool().Draw(t, "medium")})
	}
	switch rapid.IntRange(0, 3).Draw(t, "reach") {
	case 0:
		w.m.caches = rapid.Bool().Draw(t, "caches")
		w.byMedia()
	case 1:
		w.byURI()
	}
}

// identify reads the board, as the agent does beside power control.
func (w *world) identify() {
	id := w.m.identity
	w.read = &id
	w.poke()
}

// request asks for something once, of this disk or of another.
func (w *world) request(t *rapid.T, action resource.RequestAction, mode resource.StopMode) {
	w.ids++
	r := resource.Request{
		ID: fmt.Sprintf("request-%d", w.ids), Server: "server-1", Action: action, Mode: mode,
		NotAfter:    w.hubTime().Add(time.Duration(rapid.IntRange(-5, 60).Draw(t, "ahead")) * time.Second),
		AnyPhase:    rapid.Bool().Draw(t, "anyPhase"),
		Incarnation: rapid.SampledFrom([]string{w.incarnation, w.incarnation, w.incarnation, "", "disk-x"}).Draw(t, "given"),
	}
	w.requests = append(slices.Clone(w.requests), r)
	w.w.orders++
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
	f.OnDelay = time.Duration(rapid.SampledFrom([]int{0, 1, 2, 4, 7, 9, 9, 45, 110}).Draw(t, "onDelay")) * time.Second
	for _, b := range []*bool{&f.DropOn, &f.RefuseOn, &f.RefuseStop, &f.NoGraceful, &f.IgnoreSoft, &f.HangSoft, &f.DropForce, &f.DropArm, &f.RefuseArm, &f.KeepArmed, &f.Coerce, &f.Revert, &f.LoseAnswers, &f.NoPolicy, &f.BusyPolicy, &f.NoRestart, &f.NoMedia, &f.BusyMedia, &f.KeepMedia, &f.BusyURL, &f.KeepURL, &f.LateURL, &f.NoURL, &f.NoHTTP, &f.KeepDisarm, &f.KeepDisk, &f.NoTag, &f.TaskFails, &f.Drip} {
		*b = rapid.IntRange(0, 5).Draw(t, "fault") == 0
	}
	return f
}

// minSteps is how many steps a run of TestProperties takes at least: decisions, each of
// which is checked. How many a check of rapid takes is as random as all else; so many
// rounds of checks are enough of them, with what rapid does if not told otherwise.
const (
	minSteps  = 100_000
	worlds    = 4 // at the same time
	maxRounds = 10
)

// TestProperties lets everything happen in any order, at BMC, firmware, hub and people,
// with restarts of the operating system, crashes of the agent and outages, and checks the
// promises P1 to P6 and P9 at every step; then everything answers for long enough, and
// the server must be where it belongs. It is what the episode of overrides that lasted, or
// were cleared before firmware took them (metal-operator 939, 1059), would not have passed.
func TestProperties(t *testing.T) {
	var steps, uris, observed atomic.Int64
	c := newChecks(t)
	t.Run("any order", func(t *testing.T) {
		for i := range worlds {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				taken := 0
				for round := 0; round < maxRounds && taken < minSteps/worlds; round++ {
					n, u, o := properties(t, c, i*maxRounds+round)
					taken += n
					uris.Add(int64(u))
					observed.Add(int64(o))
				}
				steps.Add(int64(taken))
			})
		}
	})
	t.Logf("%d steps", steps.Load())
	if uris.Load() == 0 && !t.Failed() {
		t.Error("nothing was booted by a URL")
	}
	if observed.Load() == 0 && !t.Failed() {
		t.Error("no evidence was observed")
	}
	if n := steps.Load(); n < minSteps && !t.Failed() {
		t.Errorf("%d steps, fewer than %d; with more -rapid.checks there are more", n, minSteps)
	}
}

func properties(t *testing.T, c *checks, nth int) (steps, uris, observed int) {
	var provisions, receipts, disk, errors int
	c.check(t, nth, func(t *rapid.T) {
		w := newWorld(t)
		w.m.computed = rapid.Bool().Draw(t, "computed")
		if rapid.IntRange(0, 3).Draw(t, "claimed") > 0 {
			w.m.faults.OnDelay = time.Duration(rapid.IntRange(0, 9).Draw(t, "onDelay")) * time.Second
			w.claim(rapid.IntRange(1, 3).Draw(t, "attempts"))
			w.policy(rapid.SampledFrom([]resource.Boot{resource.BootHdd, resource.BootHdd, resource.BootNetwork}).Draw(t, "boot"), rapid.SampledFrom(resource.OSReboots()).Draw(t, "osReboot"))
			if rapid.Bool().Draw(t, "network any") {
				w.intent.Boot.BootPolicy.Network, w.grant.Network = resource.NetworkAny, resource.NetworkAny
			}
			w.m.live = w.intent.Boot.BootPolicy.Boot == resource.BootNetwork
			w.drawReach(t)
			w.run(time.Duration(rapid.IntRange(0, 120).Draw(t, "seconds")) * time.Second)
		}
		t.Repeat(w.actions())
		w.m.foreign = false
		w.m.faults, w.midCall, w.crashIn, w.local, w.heard = faults{}, nil, 0, true, true
		w.requests, w.asked, w.forged = nil, nil, ""
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
		uris += w.w.uriBoots
		observed += w.w.observed
	})
	t.Logf("%d steps, %d provisioned, %d of them observed, %d boots by a URL, %d receipts; at the end %d well, %d with a condition", steps, provisions, observed, uris, receipts, disk, errors)
	return steps, uris, observed
}
