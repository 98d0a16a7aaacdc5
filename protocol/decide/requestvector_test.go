package decide

import (
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// asks is a reboot that everybody may ask for.
func asks(id string, any bool) resource.Request {
	return resource.Request{ID: id, Action: resource.RequestReboot, Mode: resource.StopHard, AnyPhase: any, NotAfter: at(time.Minute)}
}

// comesUp answers an arm and an On, and reads On; at most 3 s after d.
func (y *play) comesUp(d time.Duration) {
	y.t.Helper()
	y.want(ActArm)
	y.read(protocol.PowerOff, d+sec, y.answered(""))
	y.want(ActOn)
	y.read(protocol.PowerOn, d+2*sec, y.answered(""))
	y.want(ActNone)
}

// TestRequestVectors are the one-shots beside claims, phases and holds (seed 002, V11,
// V22, V23).
func TestRequestVectors(t *testing.T) {
	const on, off, unreachable = protocol.PowerOn, protocol.PowerOff, protocol.PowerUnreachable
	installed := func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-1") }
	for name, tell := range map[string]func(t *testing.T){
		"V22 its claim wants it Off": func(t *testing.T) {
			for _, p := range []protocol.PowerState{on, off} {
				y := story(t, func(s *Snapshot) {
					s.Intent.Power = resource.WantOff
					s.Requests = []resource.Request{asks("r", false)}
				})
				y.read(p, 1*sec, nil)
				if y.outcome("r", resource.OutcomePending, ""); p == on {
					y.want(ActForceOff) // the request's mode
					y.read(off, 3*sec, y.answered(""))
				}
				y.read(off, 4*sec, nil)
				y.outcome("r", resource.OutcomeDone, "not restored: its claim wants it Off")
				y.want(ActNone)
			}
		},
		"no claim": func(t *testing.T) {
			free := func(s *Snapshot) { s.Intent.Power, s.Intent.Owner.UID, s.Intent.Boot = "", "", nil }
			y := story(t, func(s *Snapshot) { free(s); s.Requests = []resource.Request{asks("r", false)} })
			y.read(on, 1*sec, nil)
			y.want(ActNone)
			y.outcome("r", resource.OutcomeRefused, "the server has no claim, so nothing says what it boots; anyPhase stops it all the same")
			y = story(t, func(s *Snapshot) { free(s); s.Requests = []resource.Request{asks("r", true)} })
			y.read(on, 1*sec, nil)
			y.want(ActForceOff)
			y.read(off, 3*sec, y.answered(""))
			y.outcome("r", resource.OutcomeDone, "not restored: no claim says what it boots")
			y.until(off, 5*sec, 60*sec)
			y.want(ActNone)
		},
		"taken back behind a hold": func(t *testing.T) {
			y := story(t, func(s *Snapshot) {
				installed(s)
				s.Holds = held(resource.StopSoft, "h")
				s.Requests = []resource.Request{asks("r", false)}
			})
			y.read(on, 1*sec, nil)
			y.want(ActGraceful)
			y.s.Requests[0].Cancelled = "ann"
			y.read(off, 5*sec, y.answered("")) // the hold's stop goes on
			y.outcome("r", resource.OutcomeCancelled, takenBack)
			y.read(off, 10*sec, nil)
			y.want(ActNone)
			y.s.Holds = nil
			y.read(off, 20*sec, nil)
			y.comesUp(20 * sec) // as the claim wants it
			y.outcome("r", resource.OutcomeCancelled, takenBack)
		},
		"taken back too late": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { installed(s); s.Requests = []resource.Request{asks("r", false)} })
			y.read(on, 1*sec, nil)
			y.want(ActForceOff)
			y.s.Requests[0].Cancelled = "ann"
			y.read(on, 2*sec, y.answered(""))
			y.read(off, 3*sec, nil)
			y.outcome("r", resource.OutcomePending, "")
			y.comesUp(3 * sec)
			y.outcome("r", resource.OutcomeDone, "")
		},
		"taken back before the agent was given it": func(t *testing.T) {
			y := story(t, func(s *Snapshot) {
				installed(s)
				s.Requests = []resource.Request{asks("r", false)}
				s.Requests[0].Cancelled = "ann"
			})
			y.read(on, 1*sec, nil)
			y.want(ActNone)
			y.outcome("r", resource.OutcomeCancelled, takenBack)
		},
		"its claim ends after it was stopped": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { installed(s); s.Requests = []resource.Request{asks("r", false)} })
			y.read(on, 1*sec, nil)
			y.want(ActForceOff)
			y.read(off, 3*sec, y.answered(""))
			y.s.Intent.Releasing = true
			y.read(off, 4*sec, nil)
			y.outcome("r", resource.OutcomeDone, "not restored: the claim ends")
		},
		"behind a hold, for longer than its time": func(t *testing.T) {
			y := story(t, func(s *Snapshot) {
				installed(s)
				s.Holds = held(resource.StopSoft, "h")
				s.Requests = []resource.Request{asks("r", false)}
			})
			y.read(on, 1*sec, nil)
			y.want(ActGraceful) // the hold's mode: it comes first
			y.read(off, 5*sec, y.answered(""))
			y.read(off, 10*sec, nil)
			y.s.HubTime = at(3 * time.Hour)
			y.read(off, 3*time.Hour, nil)
			y.outcome("r", resource.OutcomePending, "")
			y.s.Holds = nil
			y.read(off, 3*time.Hour+sec, nil)
			y.comesUp(3*time.Hour + sec)
			y.outcome("r", resource.OutcomeDone, "")
		},
		"behind a hold that is violated": func(t *testing.T) {
			y := story(t, func(s *Snapshot) {
				installed(s)
				s.Holds = held(resource.StopHard, "h")
				s.Requests = []resource.Request{asks("r", false)}
			})
			y.read(off, 1*sec, nil)
			y.read(off, 6*sec, nil)
			y.read(on, 9*sec, nil)
			y.outcome("r", resource.OutcomePending, "")
			y.s.Holds = nil // before it is off again
			y.read(on, 10*sec, y.answered(""))
			y.outcome("r", resource.OutcomePending, "")
			y.read(off, 12*sec, nil)
			y.comesUp(12 * sec)
			y.outcome("r", resource.OutcomeDone, "")
		},
		"behind a hold, and never begun in time": func(t *testing.T) {
			y := story(t, func(s *Snapshot) {
				installed(s)
				s.Holds = held(resource.StopHard, "h")
				s.Requests = []resource.Request{asks("r", false)}
			})
			y.read(unreachable, 1*sec, nil)
			y.s.HubTime = at(2 * time.Minute)
			y.read(unreachable, 2*time.Minute, nil)
			y.outcome("r", resource.OutcomeExpired, notBegun)
		},
		"the limit runs anew after the hold": func(t *testing.T) {
			y := story(t, func(s *Snapshot) {
				installed(s)
				s.Holds = held(resource.StopHard, "h")
				s.Requests = []resource.Request{asks("r", false)}
			})
			y.read(off, 1*sec, nil)
			y.read(off, 6*sec, nil)
			y.s.Holds, y.s.Intent.Boot = nil, nil // nothing can be booted
			y.read(off, 2*time.Hour, nil)
			y.read(off, 3*time.Hour, nil)
			y.outcome("r", resource.OutcomePending, "")
			y.read(off, 3*time.Hour+sec, nil)
			y.outcome("r", resource.OutcomeUnknown, "it did not end within 1h0m0s")
		},
		"together before Off is read, and one after On was sent": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { installed(s); s.Requests = []resource.Request{asks("r", false)} })
			y.read(on, 1*sec, nil)
			y.want(ActForceOff)
			y.s.Requests = append(y.s.Requests, asks("q", false))
			y.read(on, 2*sec, y.answered(""))
			y.read(off, 3*sec, nil)
			y.comesUp(3 * sec)
			y.outcome("r", resource.OutcomeDone, "")
			y.outcome("q", resource.OutcomeDone, "")
			y.s.Requests = append(y.s.Requests, asks("p", false))
			y.read(on, 8*sec, nil)
			y.want(ActForceOff)
			y.read(off, 10*sec, y.answered(""))
			y.comesUp(10 * sec)
			y.outcome("p", resource.OutcomeDone, "")
		},
		"the claim ends": func(t *testing.T) {
			for _, gone := range []bool{false, true} {
				y := story(t, func(s *Snapshot) {
					installed(s)
					off := asks("o", false)
					off.Action = resource.RequestPowerOff
					s.Intent.Power, s.Requests = resource.WantOff, []resource.Request{asks("r", false), off}
				})
				y.read(on, 1*sec, nil)
				y.s.Intent.Releasing = true
				if gone {
					y.s.Intent.Releasing, y.s.Intent.Owner.UID, y.s.Intent.Power, y.s.Intent.Boot = false, "", "", nil
				}
				y.read(on, 2*sec, y.answered(""))
				y.outcome("r", resource.OutcomeRefused, "the claim ends")
				y.outcome("o", resource.OutcomeRefused, "the claim ends")
				y.s.Requests = append(y.s.Requests, asks("late", true))
				if !gone {
					y.read(on, 3*sec, nil)
					y.outcome("late", resource.OutcomeRefused, "the claim ends")
				}
			}
		},
	} {
		t.Run(name, tell)
	}
}

// TestTimestamps: pendingRebootSince and lastPoweredOn are the agent's, and of the
// present claim and image (seed 002).
func TestTimestamps(t *testing.T) {
	const on, off = protocol.PowerOn, protocol.PowerOff
	y := story(t, func(s *Snapshot) {
		s.Record.Owners.Provisioned = provisionedBy("claim-1")
		s.Holds = held(resource.StopHard, "h")
	})
	y.read(on, 1*sec, nil)
	y.read(on, 2*sec, y.answered(""))
	if r := y.p.Record; !r.Pending || !r.PendingRebootSince.Equal(at(1*sec)) {
		t.Fatalf("pending %t since %v", r.Pending, r.PendingRebootSince)
	}
	y.s.Holds = nil // released before it was Off: what was asked is done
	y.read(on, 13*sec, nil)
	y.want(ActForceOff)
	y.read(off, 15*sec, y.answered(""))
	y.comesUp(15 * sec)
	last := y.p.Record.PoweredOn(y.s.Intent)
	if r := y.p.Record; r.Pending || !last.After(r.PendingRebootSince) {
		t.Errorf("pending %t since %v, powered on at %v", r.Pending, r.PendingRebootSince, last)
	}
	in := *y.s.Intent
	in.Owner.UID = "claim-2"
	if p := y.p.Record.PoweredOn(&in); !p.IsZero() {
		t.Errorf("for another claim: %v", p)
	}
	boot := *y.s.Intent.Boot
	boot.Image.Digest = "sha256:other"
	in = *y.s.Intent
	in.Boot = &boot
	if p := y.p.Record.PoweredOn(&in); !p.IsZero() {
		t.Errorf("for another image: %v", p)
	}
	y.s.Requests = []resource.Request{asks("r", false)}
	y.s.Requests[0].NotAfter = at(time.Hour)
	y.read(on, 30*sec, nil)
	if r := y.p.Record; !r.Pending || !r.PendingRebootSince.Equal(at(30*sec)) {
		t.Errorf("pending %t since %v", r.Pending, r.PendingRebootSince)
	}
}
