package decide

import (
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// came is a server with an installed system, as ordered and long since, that a read of
// another kind then shows to have come on without an order.
func came(t *testing.T, class protocol.SafeStopClass, change func(*protocol.Observation)) *play {
	t.Helper()
	y := story(t, func(s *Snapshot) {
		s.Record.Owners.Provisioned, s.Record.Shown.Power = provisionedBy("claim-1"), protocol.PowerOn
		s.Record.Shown.Progress = Progress{Class: progressOS, Since: at(-time.Hour), Followed: true}
		s.Record.Shown.LastReset, s.Record.Shown.PowerLog = at(-2*time.Hour), "P1"
		s.Safety = &protocol.Safety{SafeStop: protocol.SafeStop{Class: class, Reason: "the reason"}}
	})
	y.look(protocol.PowerOn, sec, func(*protocol.Observation) {})
	y.look(protocol.PowerOn, 10*sec, change)
	return y
}

// look is a read that shows more than the power.
func (y *play) look(p protocol.PowerState, d time.Duration, change func(*protocol.Observation)) {
	y.t.Helper()
	o := seen(p, d)
	o.Override = y.bmc
	change(o)
	y.s.Observation = o
	y.step(d)
}

// stands checks where the server is said to stand.
func (y *play) stands(by protocol.UnexpectedBy, want protocol.Stands) {
	y.t.Helper()
	u := y.p.Record.UnexpectedReport()
	if u == nil || u.By != by || u.Stands != want || (want == protocol.StandsOpen) != (u.Why == "nothing was heard of it yet") {
		y.t.Fatalf("%+v, want %s by %s", u, want, by)
	}
	code := resource.CondUnexpectedPower
	if halted(want) {
		code = resource.CondSafeStopped
	}
	y.condition(code)
	for _, c := range y.p.Record.Conditions {
		if c.Code == resource.CondSafeStopped && strings.HasPrefix(c.Message, "believed") != (want == protocol.StandsBelieved) {
			y.t.Errorf("it says %q", c.Message)
		}
	}
}

// TestSources: each source shows a power cycle between two reads (facts, rows 8, 21).
func TestSources(t *testing.T) {
	const shellFirst = protocol.SafeStopShellFirst
	for _, row := range []struct {
		by     protocol.UnexpectedBy
		change func(*protocol.Observation)
		stands protocol.Stands
	}{
		{protocol.ByResetTime, func(o *protocol.Observation) { o.LastResetTime = at(5 * sec).Format(time.RFC3339) }, protocol.StandsOpen},
		{protocol.ByLog, func(o *protocol.Observation) { o.PowerLog = "P2" }, protocol.StandsOpen},
		{protocol.ByProgress, func(o *protocol.Observation) { o.BootProgress = "MemoryInitializationStarted" }, protocol.StandsOpen},
		{protocol.ByProgress, func(o *protocol.Observation) { o.BootProgress = "SetupEntered" }, protocol.StandsStopped},
	} {
		y := came(t, shellFirst, row.change)
		y.happened(resource.EventUnexpected)
		y.stands(row.by, row.stands)
		if y.want(ActNone); len(y.p.Measured.Unexpected) != 1 {
			t.Errorf("%s: counted %v", row.by, y.p.Measured)
		}
	}
	nothing := func(*protocol.Observation) {}
	for by, e := range map[protocol.UnexpectedBy]Event{
		protocol.ByDHCP: {Kind: protocol.EvidenceDHCP, Class: protocol.ClassPXEClient, At: at(20 * sec)},
		protocol.ByHTTP: {Asks: true, At: at(20 * sec)},
	} {
		y := came(t, shellFirst, nothing)
		if y.p.Record.Unexpected != nil {
			t.Fatalf("nothing has happened yet: %+v", y.p.Record.Unexpected)
		}
		y.s.Events = []Event{e}
		y.look(protocol.PowerOn, 21*sec, nothing)
		y.stands(by, protocol.StandsRuns)
	}
	for by, source := range map[protocol.UnexpectedBy]protocol.Source{protocol.ByPoll: protocol.SourcePoll, protocol.ByEvent: protocol.SourceEvent} {
		y := came(t, shellFirst, nothing)
		y.look(protocol.PowerOff, 20*sec, func(o *protocol.Observation) { o.Source = source })
		y.condition(resource.CondUnexpectedPower)
		y.look(protocol.PowerOn, 30*sec, func(o *protocol.Observation) { o.Source = source })
		y.stands(by, protocol.StandsOpen)
	}
}

// TestStands: what is believed is never said to be seen, and a shell that is first under
// Secure Boot is no safe stop (facts §1.5, 5b).
func TestStands(t *testing.T) {
	reset := func(o *protocol.Observation) { o.LastResetTime = at(5 * sec).Format(time.RFC3339) }
	quiet := func(o *protocol.Observation) { reset(o) }
	late := 11 * time.Minute
	for name, row := range map[string]struct {
		class  protocol.SafeStopClass
		power  protocol.PowerState
		change func(*protocol.Observation)
		events []Event
		want   protocol.Stands
	}{
		"shell first, quiet":         {protocol.SafeStopShellFirst, protocol.PowerOn, quiet, nil, protocol.StandsBelieved},
		"Secure Boot, quiet":         {protocol.SafeStopNone, protocol.PowerOn, quiet, nil, protocol.StandsRuns},
		"not known, quiet":           {protocol.SafeStopUnknown, protocol.PowerOn, quiet, nil, protocol.StandsRuns},
		"Paused (BlueField)":         {protocol.SafeStopNone, protocol.PowerPaused, quiet, nil, protocol.StandsStopped},
		"StandbyOffline (BlueField)": {protocol.SafeStopNone, protocol.PowerOn, func(o *protocol.Observation) { reset(o); o.SystemState = "StandbyOffline" }, nil, protocol.StandsStopped},
		"OEM UEFI (BlueField)":       {protocol.SafeStopNone, protocol.PowerOn, func(o *protocol.Observation) { reset(o); o.OEMProgress = "UEFI" }, nil, protocol.StandsStopped},
		"the word of before":         {protocol.SafeStopShellFirst, protocol.PowerOn, func(o *protocol.Observation) { reset(o); o.BootProgress = "OSRunning" }, nil, protocol.StandsBelieved},
		"stop image":                 {protocol.SafeStopNone, protocol.PowerOn, quiet, []Event{{StopImage: true, At: at(30 * sec)}}, protocol.StandsStopped},
		"its system is heard":        {protocol.SafeStopShellFirst, protocol.PowerOn, quiet, []Event{{Kind: protocol.EvidenceDHCP, Class: protocol.ClassNone, At: at(30 * sec)}}, protocol.StandsRuns},
		"after the stop image":       {protocol.SafeStopNone, protocol.PowerOn, quiet, []Event{{StopImage: true, At: at(30 * sec)}, {Kind: protocol.EvidenceDHCP, Class: protocol.ClassNone, At: at(60 * sec)}}, protocol.StandsRuns},
		"heard long before":          {protocol.SafeStopShellFirst, protocol.PowerOn, quiet, []Event{{Kind: protocol.EvidenceDHCP, Class: protocol.ClassNone, At: at(-time.Minute)}}, protocol.StandsBelieved},
	} {
		t.Run(name, func(t *testing.T) {
			y := came(t, row.class, reset)
			y.s.Events = row.events
			y.look(row.power, 61*sec, row.change)
			y.look(row.power, late, row.change)
			y.stands(protocol.ByResetTime, row.want)
			was := len(y.p.Happened)
			y.restart()
			y.look(row.power, late+sec, row.change)
			y.stands(protocol.ByResetTime, row.want)
			if len(y.p.Happened) > was {
				t.Errorf("it is told again: %v", y.p.Happened)
			}
		})
	}
}

// TestResume: the disk is armed where the server stands, one restart is sent, and what
// was unexpected is over when firmware took the disk (P6, row 21).
func TestResume(t *testing.T) {
	stood := func(t *testing.T) *play {
		t.Helper()
		y := came(t, protocol.SafeStopShellFirst, func(o *protocol.Observation) { o.BootProgress = "SetupEntered" })
		y.s.Requests = []resource.Request{{ID: "r", Action: resource.RequestResume, By: "ann", Why: "looked", NotAfter: at(time.Hour)}}
		return y
	}
	keep := func(y *play, p protocol.PowerState, d time.Duration, r *Result) {
		y.s.Result = r
		y.look(p, d, func(*protocol.Observation) {})
	}
	for _, power := range []protocol.PowerState{protocol.PowerOn, protocol.PowerPaused} {
		t.Run("restart while "+string(power), func(t *testing.T) {
			y := stood(t)
			keep(y, power, 20*sec, nil)
			y.want(ActArm)
			y.happened(resource.EventResumed)
			keep(y, power, 21*sec, y.answered(""))
			y.want(ActRestart)
			if y.p.Record.Unexpected == nil || !y.p.Persist {
				t.Error("nothing has happened yet")
			}
			keep(y, power, 22*sec, y.answered(""))
			y.want(ActNone)
			keep(y, power, 60*sec, nil)
			y.want(ActNone)
			epoch := y.p.Record.Shown.Epoch
			y.bmc = protocol.Override{}
			keep(y, protocol.PowerOn, 90*sec, nil)
			y.outcome("r", resource.OutcomePending, "")
			keep(y, protocol.PowerOn, 91*sec, nil)
			y.outcome("r", resource.OutcomeDone, "")
			if y.p.Record.Unexpected != nil || y.p.Record.Shown.Epoch != epoch+1 {
				t.Errorf("%+v, epoch %d after %d", y.p.Record.Unexpected, y.p.Record.Shown.Epoch, epoch)
			}
		})
	}
	t.Run("the BMC has no ForceRestart", func(t *testing.T) {
		y := stood(t)
		keep(y, protocol.PowerOn, 20*sec, nil)
		keep(y, protocol.PowerOn, 21*sec, y.answered(""))
		y.want(ActRestart)
		keep(y, protocol.PowerOn, 22*sec, y.answered(protocol.CodeUnsupported))
		for n := 0; y.p.Action.Kind != ActForceOff; n++ {
			if n > 3 {
				t.Fatalf("%+v", y.p.Action)
			}
			keep(y, protocol.PowerOn, time.Duration(23+n)*sec, nil)
		}
		keep(y, protocol.PowerOff, 40*sec, y.answered(""))
		for n := 0; y.p.Action.Kind != ActOn; n++ {
			if n > 20 {
				t.Fatalf("%+v", y.p.Action)
			}
			keep(y, protocol.PowerOff, time.Duration(41+n)*sec, y.answered(""))
		}
		y.bmc = protocol.Override{}
		keep(y, protocol.PowerOn, 100*sec, y.answered(""))
		keep(y, protocol.PowerOn, 101*sec, nil)
		y.outcome("r", resource.OutcomeDone, "")
	})
	t.Run("a hold comes between", func(t *testing.T) {
		y := stood(t)
		keep(y, protocol.PowerOn, 20*sec, nil)
		y.want(ActArm)
		y.s.Holds = held(resource.StopHard, "h")
		keep(y, protocol.PowerOn, 21*sec, y.answered(""))
		y.want(ActForceOff)
		y.outcome("r", resource.OutcomeRefused, isHeld)
	})
	t.Run("at the agent, with the hub away", func(t *testing.T) {
		y := stood(t)
		y.s.Asked, y.s.Requests, y.s.HubTime = y.s.Requests, nil, time.Time{}
		keep(y, protocol.PowerOn, 20*sec, nil)
		y.want(ActArm)
	})
	t.Run("of a server whose last boot was begun while the clock was ahead", func(t *testing.T) {
		y := stood(t)
		y.s.Record.Attempt = &Attempt{ID: "old", Order: Order{OwnerUID: "claim-1", Generation: 1, Target: protocol.TargetHdd}, Stage: Stage{State: resource.AttemptSucceeded, PowerOn: PowerOn{Sent: at(2 * time.Hour)}}, At: at(2 * time.Hour)}
		keep(y, protocol.PowerOn, 20*sec, nil)
		y.want(ActArm) // that boot is not the resume's
		keep(y, protocol.PowerOn, 21*sec, y.answered(""))
		y.want(ActRestart)
	})
	t.Run("while firmware may be about to choose", func(t *testing.T) {
		y := stood(t)
		y.s.Record.Attempt = &Attempt{ID: "old", Order: Order{OwnerUID: "claim-1", Generation: 1, Target: protocol.TargetHdd}, Stage: Stage{State: resource.AttemptFailed, PowerOn: PowerOn{Sent: at(18 * sec)}}, At: at(17 * sec)}
		y.s.Record.Unexpected = nil
		for n := 0; y.p.Action.Kind != ActForceOff; n++ {
			if n > 30 || y.p.Action.Kind == ActArm {
				t.Fatalf("%+v", y.p.Action) // nothing is armed before what our On boots was chosen
			}
			keep(y, protocol.PowerOn, time.Duration(20+n)*sec, nil)
		}
		keep(y, protocol.PowerOff, 60*sec, y.answered(""))
		for n := 0; y.p.Action.Kind != ActOn; n++ {
			if n > 20 {
				t.Fatalf("%+v", y.p.Action)
			}
			keep(y, protocol.PowerOff, time.Duration(61+n)*sec, y.answered(""))
		}
	})
	t.Run("after firmware has had its time", func(t *testing.T) {
		y := stood(t)
		y.s.Record.Attempt = &Attempt{ID: "old", Order: Order{OwnerUID: "claim-1", Generation: 1, Target: protocol.TargetHdd}, Stage: Stage{State: resource.AttemptFailed, PowerOn: PowerOn{Sent: at(20*sec - consumeTimeout)}}, At: at(-consumeTimeout)}
		keep(y, protocol.PowerOn, 20*sec, nil)
		y.want(ActArm)
	})
	t.Run("of a claim that waits for a decision", func(t *testing.T) {
		y := came(t, protocol.SafeStopShellFirst, func(*protocol.Observation) {})
		y.s.Intent.Boot = nil
		y.s.Record.Unexpected = &Unexpected{}
		y.s.Requests = []resource.Request{{ID: "r", Action: resource.RequestResume, NotAfter: at(time.Hour)}}
		keep(y, protocol.PowerOff, 20*sec, nil)
		y.want(ActNone)
		y.outcome("r", resource.OutcomeRefused, "its claim has nothing to boot yet; the claim's conditions say what it waits for")
	})
	t.Run("of what runs as ordered", func(t *testing.T) {
		y := came(t, protocol.SafeStopShellFirst, func(*protocol.Observation) {})
		y.s.Requests = []resource.Request{{ID: "r", Action: resource.RequestResume, NotAfter: at(time.Hour)}}
		keep(y, protocol.PowerOn, 20*sec, nil)
		y.want(ActNone)
		y.outcome("r", resource.OutcomeRefused, "nothing unexpected is known of it; a reboot stops and starts it")
	})
}

// TestRetry: an installer that was killed half-way has used up the grant. A resume alone
// boots nothing from the network; an operator's retry does, once (P4).
func TestRetry(t *testing.T) {
	y := story(t, func(s *Snapshot) {
		s.Record.Shown.Power = protocol.PowerOff
		s.Record.Owners.Used = map[string]GrantUse{"claim-1/1": {Attempts: 1, Spent: true, Reason: "the server went Off without an installed report"}}
		s.Record.Attempt = &Attempt{ID: "old", Order: Order{OwnerUID: "claim-1", Generation: 1, Target: protocol.TargetUefiHTTP}, Stage: Stage{State: resource.AttemptFailed}, At: at(-time.Hour)}
	})
	y.read(protocol.PowerOff, sec, nil)
	y.want(ActNone)
	y.condition(resource.CondGrantSpent)
	y.s.Requests = []resource.Request{{ID: "r", Action: resource.RequestResume, NotAfter: at(time.Hour)}}
	y.read(protocol.PowerOff, 2*sec, nil)
	y.want(ActNone)
	y.outcome("r", resource.OutcomeRefused, "its first boot has used up the grant; with retry it is installed anew")
	y.s.Requests = append(y.s.Requests, resource.Request{ID: "s", Action: resource.RequestResume, Retry: true, By: "ann", Why: "cable", NotAfter: at(time.Hour)})
	y.read(protocol.PowerOff, 3*sec, nil)
	y.read(protocol.PowerOff, 4*sec, nil)
	y.want(ActArm)
	if o := y.p.Action.Override; o.Target != protocol.TargetUefiHTTP {
		t.Errorf("%+v", o)
	}
	y.read(protocol.PowerOff, 5*sec, y.answered(""))
	y.want(ActOn)
	rec := y.p.Record
	rec.Attempt.Stage.State, rec.Attempt.Marks.Served = resource.AttemptFetched, true
	rec.spend("it was killed again")
	rec.Attempt.Stage.State, rec.Attempt.Stage.PowerOn.Pending = resource.AttemptFailed, time.Time{}
	y.s.Record = rec
	y.bmc = protocol.Override{}
	for n := range 30 {
		y.read(protocol.PowerOff, time.Duration(30+n)*sec*20, nil)
		if y.p.Action.Kind == ActArm || y.p.Action.Kind == ActOn {
			t.Fatalf("a second boot for one retry: %+v", y.p.Action)
		}
	}
	y.outcome("s", resource.OutcomeUnknown, "the boot failed")
}
