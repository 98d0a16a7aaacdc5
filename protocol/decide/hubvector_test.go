package decide

import (
	"slices"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func lacks(p Plan, code resource.ConditionCode) bool {
	return !slices.ContainsFunc(p.Record.Conditions, func(c resource.ConditionState) bool { return c.Code == code })
}

// TestHubNotHeard: a one-time permission waits until the hub was heard since the
// agent started, because the agent's disk may be an old copy; nothing else does.
func TestHubNotHeard(t *testing.T) {
	const on, off = protocol.PowerOn, protocol.PowerOff
	ask := func(y *play, a resource.RequestAction) {
		y.s.Requests = []resource.Request{{ID: "r", Action: a, Mode: resource.StopHard, NotAfter: at(60 * sec), Incarnation: "disk-1"}}
	}
	outcome := func(y *play) resource.Outcome {
		if len(y.p.Record.Requests) == 0 {
			return outcomeWaits
		}
		return y.p.Record.Requests[0].Outcome
	}
	unheard := func(s *Snapshot) { s.HubTime = time.Time{} }
	for name, tell := range map[string]func(t *testing.T){
		"a first boot waits": func(t *testing.T) {
			y := story(t, unheard)
			y.read(off, 1*sec, nil)
			y.want(ActNone)
			y.condition(resource.CondAwaitingHub)
			y.s.HubTime = at(0)
			y.read(off, 2*sec, nil)
			y.want(ActArm)
			if !lacks(y.p, resource.CondAwaitingHub) {
				t.Error("it still waits")
			}
		},
		"an attempt goes on, but its On is not sent again": func(t *testing.T) {
			y := story(t, nil)
			y.read(off, 1*sec, nil)
			y.want(ActArm)
			y.read(off, 2*sec, y.answered(""))
			y.want(ActOn)
			y.restart()
			y.s.HubTime = time.Time{}
			comes := *y
			comes.read(on, 3*sec, nil)
			if a := comes.p.Record.Attempt; a.Stage.State != resource.AttemptConsumed {
				t.Errorf("%s after it came on", a.Stage.State)
			}
			for d := 12 * sec; d < 2*onTimeout; d += 30 * sec {
				y.read(off, d, nil)
				y.want(ActNone)
				y.condition(resource.CondAwaitingHub)
			}
			y.s.HubTime = at(0)
			y.read(off, 2*onTimeout, nil)
			y.want(ActOn)
			y.read(off, 2*onTimeout+sec, nil)
			y.want(ActNone)
			y.read(off, 2*onTimeout+2*onResend, nil)
			y.want(ActOn)
		},
		"an attempt whose override was written waits before its On": func(t *testing.T) {
			y := story(t, nil)
			y.read(off, 1*sec, nil)
			y.want(ActArm)
			y.read(off, 2*sec, y.answered(""))
			y.p.Record.Attempt.Stage.State = resource.AttemptArmed // it was killed between two writes
			y.p.Record.Attempt.Stage.PowerOn.Sent, y.p.Record.Attempt.Stage.PowerOn.Again, y.p.Record.Attempt.Stage.PowerOn.Pending = time.Time{}, time.Time{}, time.Time{}
			y.restart()
			y.s.HubTime = time.Time{}
			y.read(off, 12*sec, nil)
			y.want(ActNone)
			y.condition(resource.CondAwaitingHub)
			y.s.HubTime = at(0)
			y.read(off, 13*sec, nil)
			y.want(ActOn)
		},
		"an attempt of which nothing was sent waits": func(t *testing.T) {
			y := story(t, nil)
			y.read(off, 1*sec, nil)
			y.want(ActArm)
			y.restart()
			y.s.HubTime = time.Time{}
			for d := 2 * sec; d < 2*armTimeout; d += 30 * sec {
				y.read(off, d, nil)
				y.want(ActNone)
				y.condition(resource.CondAwaitingHub)
			}
			y.s.HubTime = at(0)
			y.read(off, 2*armTimeout, nil)
			y.want(ActArm)
			y.read(off, 2*armTimeout+sec, nil)
			y.want(ActArm)
		},
		"a disk boot does not wait": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { unheard(s); s.Record.Owners.Provisioned = provisionedBy("claim-1") })
			y.read(off, 1*sec, nil)
			y.want(ActArm)
		},
		"a hold does not wait": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { unheard(s); s.Holds = held(resource.StopHard, "h") })
			y.read(on, 1*sec, nil)
			y.want(ActForceOff)
		},
		"a request waits, and its time is the hub's": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { unheard(s); s.Record.Owners.Provisioned = provisionedBy("claim-1") })
			ask(y, resource.RequestReboot)
			y.read(on, 90*sec, nil) // by the agent's own clock it is over
			if o := outcome(y); o != outcomeWaits {
				t.Fatalf("outcome %s", o)
			}
			y.condition(resource.CondAwaitingHub)
			y.want(ActNone)
			y.s.HubTime = at(59 * sec)
			y.read(on, 91*sec, nil)
			y.want(ActForceOff)
		},
		"a request that the hub's time has passed": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.HubTime = at(60 * sec) })
			ask(y, resource.RequestReboot)
			y.read(on, 1*sec, nil)
			if o := outcome(y); o != resource.OutcomeExpired {
				t.Errorf("outcome %s", o)
			}
		},
		"an accepted reboot of which nothing was sent waits, and is not begun late": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-1") })
			ask(y, resource.RequestReboot)
			y.read(protocol.PowerUnreachable, 1*sec, nil)
			y.restart()
			y.s.HubTime = time.Time{}
			y.read(on, 2*sec, nil)
			y.want(ActNone)
			y.condition(resource.CondAwaitingHub)
			early := *y
			early.s.HubTime = at(59 * sec)
			early.read(on, 3*sec, nil)
			early.want(ActForceOff)
			y.s.HubTime = at(60 * sec)
			y.read(on, 3*sec, nil)
			y.want(ActNone)
			if o := outcome(y); o != resource.OutcomeExpired {
				t.Errorf("outcome %s", o)
			}
		},
		"a stop of an earlier run is not gone on with late": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-1") })
			ask(y, resource.RequestReboot)
			y.read(on, 1*sec, nil)
			y.want(ActForceOff) // on disk; whether it was sent nobody knows
			y.restart()
			y.s.HubTime = at(60 * sec)
			y.read(on, 3*sec, nil)
			y.want(ActNone)
			if o := outcome(y); o != resource.OutcomeUnknown {
				t.Errorf("outcome %s", o)
			}
		},
		"a stop of an earlier run was for all that had asked": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-1") })
			ask(y, resource.RequestReboot)
			second := y.s.Requests[0]
			second.ID = "r2"
			y.s.Requests = append(y.s.Requests, second)
			y.read(on, 1*sec, nil)
			y.want(ActForceOff)
			y.restart()
			y.s.HubTime = at(60 * sec)
			y.read(on, 3*sec, nil)
			y.want(ActNone)
			for _, q := range y.p.Record.Requests {
				if q.Outcome != resource.OutcomeUnknown {
					t.Errorf("outcome %s of %s: %s", q.Outcome, q.ID, q.Reason)
				}
			}
		},
		"a stop that this run began is gone on with": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-1") })
			ask(y, resource.RequestReboot)
			y.read(on, 1*sec, nil)
			y.want(ActForceOff)
			y.s.HubTime = at(60 * sec)
			y.read(on, 12*sec, y.answered(""))
			y.want(ActForceOff)
		},
		"a stop for a hold that began late is not gone on with for a request": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Record.Owners.Provisioned = provisionedBy("claim-1") })
			ask(y, resource.RequestReboot)
			y.read(protocol.PowerUnreachable, 1*sec, nil) // accepted, and nothing can be sent
			y.restart()
			y.s.HubTime = time.Time{}
			y.s.Holds = held(resource.StopSoft, "h")
			y.read(on, 100*sec, nil)
			y.want(ActGraceful)
			y.s.Holds = nil
			y.read(on, 102*sec, y.answered(""))
			y.want(ActNone)
			y.condition(resource.CondAwaitingHub)
			early := *y
			early.s.HubTime = at(61 * sec) // the agent's clock is ahead: the stop began at 59 s
			early.read(on, 102*sec, nil)
			if o := outcome(&early); o != resource.OutcomePending {
				t.Errorf("begun in time: outcome %s", o)
			}
			y.s.HubTime = at(104 * sec)
			y.read(on, 104*sec, nil)
			if o := outcome(y); o != resource.OutcomeExpired {
				t.Errorf("outcome %s", o)
			}
		},
		"a request given to another disk": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { unheard(s); s.Incarnation = "disk-2" })
			ask(y, resource.RequestReboot)
			y.read(on, 1*sec, nil)
			if q := y.p.Record.Requests; len(q) != 1 || q[0].Outcome != resource.OutcomeUnknown || q[0].Reason != "was given to an earlier disk of this agent" {
				t.Errorf("requests %+v", q)
			}
			y.want(ActNone)
		},
		"a grant given to another disk": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Incarnation = "disk-2"; s.Intent.Boot.GrantFor = "disk-1" })
			y.read(off, 1*sec, nil)
			y.want(ActNone)
			y.condition(resource.CondGrantInvalid)
			y.s.Echo = provisionedBy("claim-1")
			y.read(off, 2*sec, nil)
			y.want(ActArm)
			if y.p.Record.Attempt.Network() {
				t.Error("a provisioned server boots from the network")
			}
		},
		"a power-off": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Intent.Power, s.Intent.Owner.UID, s.Intent.Boot = "", "", nil })
			ask(y, resource.RequestPowerOff)
			y.read(on, 1*sec, nil)
			y.want(ActForceOff)
			y.read(off, 2*sec, y.answered(""))
			y.want(ActNone)
			if o := outcome(y); o != resource.OutcomeDone {
				t.Errorf("outcome %s", o)
			}
			y.read(on, 3*sec, nil) // done once
			y.want(ActNone)
		},
		"a power-off of what a claim wants On": func(t *testing.T) {
			y := story(t, nil)
			ask(y, resource.RequestPowerOff)
			y.read(on, 1*sec, nil)
			y.want(ActNone)
			if q := y.p.Record.Requests[0]; q.Outcome != resource.OutcomeRefused || q.Reason != "its claim wants the server On: change the claim's power" {
				t.Errorf("request %+v", q)
			}
		},
		"a claim that comes after a power-off was accepted": func(t *testing.T) {
			y := story(t, func(s *Snapshot) { s.Intent.Power = "" })
			ask(y, resource.RequestPowerOff)
			y.s.Requests[0].Mode = resource.StopSoft
			y.read(on, 1*sec, nil)
			y.want(ActGraceful)
			y.s.Intent.Power = resource.WantOn
			y.read(on, 2*sec, y.answered(""))
			if o := outcome(y); o != resource.OutcomeRefused {
				t.Errorf("outcome %s", o)
			}
		},
	} {
		t.Run(name, tell)
	}
}

// TestRenew: what a rolled-back disk had under way may have been done since.
func TestRenew(t *testing.T) {
	y := story(t, func(s *Snapshot) {
		s.Record.Shown.Power = protocol.PowerOn
		s.Record.Owners.Provisioned = provisionedBy("claim-1")
	})
	y.s.Requests = []resource.Request{{ID: "r", Server: "server-1", Action: resource.RequestReboot, NotAfter: at(60 * sec)}}
	y.read(protocol.PowerOn, 1*sec, nil)
	r, events := Renew(at(2*sec), y.p.Record)
	if q := r.Requests[0]; q.Outcome != resource.OutcomeUnknown || q.EndedAt != at(2*sec) || len(events) != 1 || events[0].Code != resource.EventRequestEnded {
		t.Errorf("request %+v, events %+v", q, events)
	}
	if again, events := Renew(at(3*sec), r); again.Requests[0].EndedAt != at(2*sec) || len(events) != 0 {
		t.Errorf("an ended request ended again: %+v", again.Requests)
	}
	// The server runs, and may run what was installed: it is left alone.
	y = story(t, nil)
	y.read(protocol.PowerOff, 1*sec, nil)
	y.read(protocol.PowerOff, 2*sec, y.answered(""))
	y.want(ActOn)
	y.s.Record, events = Renew(at(3*sec), y.p.Record)
	if len(events) != 1 || events[0].Code != resource.EventAttemptFailed {
		t.Errorf("events %+v", events)
	}
	for d := 4 * sec; d < 2*fetchTimeout; d += 10 * sec {
		y.read(protocol.PowerOn, d, nil)
		y.want(ActNone)
	}
	y.condition(resource.CondFirstBootFailed)

	y = story(t, nil)
	y.read(protocol.PowerOff, 1*sec, nil)
	y.want(ActArm)
	y.s.Record, _ = Renew(at(2*sec), y.p.Record)
	y.s.Incarnation, y.s.Intent.Boot.GrantFor = "disk-2", "disk-1"
	for d := 3 * sec; d < 20*sec; d += sec {
		y.read(protocol.PowerOff, d, nil)
		y.want(ActNone)
	}
	y.condition(resource.CondGrantInvalid)
}
