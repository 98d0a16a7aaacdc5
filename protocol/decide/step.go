package decide

import (
	"fmt"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// step is one decision being made. It is made new for each call of Step.
type step struct {
	now   time.Time
	snap  Snapshot
	rec   Record
	watch Watch
	plan  Plan
	dirty bool
	conds []resource.ConditionState
	work  bool      // firmware work is marked now
	trig  triggered // see triggerRule
}

// Step decides what to do with one server now. It is a pure function: the same
// arguments give the same plan, and nothing is changed in place. The caller puts
// Plan.Record on disk, then acts, then reports.
func Step(now time.Time, s Snapshot) Plan {
	p := &step{now: now, snap: s, rec: s.Record.clone(), watch: s.Watch}
	p.plan.RecheckAt = now.Add(s.Settings.PollInterval)
	p.plan.Action.Kind = ActNone
	p.rec.Server = s.Server

	p.work = Working(s.Firmware, s.HubTime, now)
	p.steady()
	p.forgetHolds()
	p.assumed()
	if s.Result != nil {
		p.result(*s.Result) // the read was begun after it
	}
	if s.Observation != nil {
		p.observe(*s.Observation)
	}
	if !s.Forced.IsZero() {
		p.unrecordedStop(s.Forced)
	}
	p.identify()
	if v := s.Safety; v != nil && (p.rec.Safety == nil || *p.rec.Safety != *v) {
		p.rec.Safety, p.dirty = v, true
	}
	for _, e := range s.Events {
		p.evidence(e)
	}
	if s.Ended {
		p.settle()
	} else if !s.Passive {
		p.terms()
		p.requests()
		p.follow()
		p.trigger()
		p.forgetFallback()
		p.pursue()
		p.settle()
		p.pace()
	}

	p.plan.Record, p.plan.Persist, p.plan.Watch = p.rec, p.dirty, p.watch
	return p.plan
}

// steady brings times that lie ahead of the clock back to now: the clock was
// stepped back, and what waits for them must not wait for as long as the step
// was. Durations then run anew, so what they bound comes late, never
// early.
func (p *step) steady() {
	back := func(t *time.Time) {
		if t.After(p.now) {
			*t = p.now
			p.dirty = true
		}
	}
	if s := p.rec.Stop; s != nil {
		back(&s.Since)
		back(&s.Graceful)
		back(&s.Forced)
	}
	if a := p.rec.Attempt; a != nil {
		if a.At.After(p.now) {
			// It is older than whatever is accepted in this step: no resume takes it for
			// the boot that it has caused.
			a.At, p.dirty = p.now.Add(-1), true
		}
		back(&a.Since)
		back(&a.OnSent)
		back(&a.OnAgain)
		back(&a.OnPending)
	}
	for i := range p.rec.Requests {
		back(&p.rec.Requests[i].AcceptedAt)
		back(&p.rec.Requests[i].From)
	}
	back(&p.rec.Ordered)
	back(&p.rec.PendingRebootSince)
}

// pace leaves a BMC alone for as long as it asked, or as it is not asked anyway: until
// it answers, nothing can be decided. Never for longer than between two polls.
func (p *step) pace() {
	pause := max(p.snap.RetryAfter, unreadPause(p.watch.Unread.Reads))
	if pause <= 0 || p.plan.Action.Kind != ActNone {
		return
	}
	if at := p.now.Add(min(pause, p.snap.Settings.PollInterval)); p.plan.RecheckAt.Before(at) {
		p.plan.RecheckAt = at
	}
}

func (p *step) result(r Result) {
	if r.Code == "" {
		p.took(r.Action)
	}
	p.answered(r)
	switch r.Action {
	case ActArm, ActDisarm:
		p.armResult(r)
	case ActOn, ActRestart:
		p.onResult(r)
	case ActGraceful, ActForceOff:
		p.stopResult(r)
	case ActReadPolicy, ActGuard, ActUnguard:
		p.guardResult(r)
	case ActInsert:
		p.insertResult(r)
	case ActEject:
		p.ejectResult(r)
	case ActClearURL:
		p.clearURLResult(r)
	case ActNone:
	}
}

// pursue acts toward the goal. Nothing is sent while the server's power was not
// read since the agent started.
func (p *step) pursue() {
	in := p.snap.Intent
	releasing, want := false, resource.Power("")
	if in != nil {
		releasing, want = in.Releasing, in.Power
	}
	asked, askedMode := p.asked()
	held := holdingOf(p.snap.Holds)
	g := goal(p.snap.Synced, held, p.work, releasing, asked, want)
	if p.watch.Last.Power == "" {
		p.recheck(0)
		return
	}
	if p.snap.HubTime.IsZero() && g == GoalStop && !p.askedHere() && goal(p.snap.Synced, held, p.work, releasing, askedNothing, want) != GoalStop {
		// On a disk that was rolled back it would be the same one-shot again. Neither
		// is the server brought back to run: the stop may be under way.
		p.raise(resource.CondAwaitingHub, "%s", asked)
		return
	}
	if g == GoalWait {
		p.wait(releasing)
		return
	}
	p.resume()
	if g != GoalRun && p.rec.Attempt.Open() {
		p.abandon(p.why(g, releasing, asked), resource.AttemptWithdrawn)
	}
	if u := p.rec.Unexpected; u != nil && u.To == protocol.PowerOff && (g == GoalKeepOff || g == GoalStop) {
		p.rec.Unexpected = nil // somebody decides about the server again
		p.dirty = true
	}
	switch g {
	case GoalKeepOff:
		mode, timeout := p.holdMode()
		p.stop(mode, timeout)
		p.fence()
		p.confirm()
		if releasing {
			p.released()
		}
	case GoalStop:
		mode := resource.StopSoft
		if asked != askedNothing {
			mode = askedMode
		}
		if releasing && discovering(in) {
			p.leaves(true)
			break
		}
		p.stop(mode, p.snap.Settings.SoftTimeout)
		if releasing {
			p.released()
		}
	case GoalRun:
		p.run()
	case GoalLeave:
		if !p.lingers() {
			p.endStop()
		}
		if p.snap.Synced {
			p.withdraw()
		}
	case GoalWait:
	}
	if g == GoalKeepOff || g == GoalStop {
		p.renewGrant() // whoever lets it run again orders that
	}
	if g != GoalRun && p.plan.Action.Kind == ActNone {
		p.disarm()
	}
	if p.plan.Action.Kind == ActNone {
		p.lasting()
	}
	if p.plan.Action.Kind == ActNone {
		p.rearm(g == GoalRun)
	}
	if p.plan.Action.Kind == ActNone {
		p.clearURL()
	}
	if p.plan.Action.Kind == ActNone {
		p.eject()
	}
	p.guard()
}

func (p *step) why(g Goal, releasing bool, a asked) string {
	switch {
	case g == GoalKeepOff:
		return "held"
	case g == GoalLeave:
		return "nothing wants the server to run"
	case releasing:
		return "the claim ends"
	case a == askedReboot:
		return "a reboot was asked for"
	default:
		return "the claim wants the server Off"
	}
}

// holdMode is hard if any hold is, or if the server was powered on under one;
// else soft with the shortest time that a hold asks for.
func (p *step) holdMode() (resource.StopMode, time.Duration) {
	violated := slices.ContainsFunc(p.snap.Holds, func(h Hold) bool {
		_, is := p.rec.Violated[h.ID]
		return is
	})
	return holdsMode(p.snap.Holds, violated, p.snap.Settings.SoftTimeout)
}

func holdsMode(holds []Hold, violated bool, rack time.Duration) (mode resource.StopMode, timeout time.Duration) {
	mode = resource.StopSoft
	if violated {
		mode = resource.StopHard
	}
	for _, h := range holds {
		if h.Mode == resource.StopHard {
			mode = resource.StopHard
		}
		t := h.SoftTimeout.D()
		if t <= 0 {
			t = rack
		}
		if timeout == 0 || t < timeout {
			timeout = t
		}
	}
	return mode, timeout
}

func (p *step) act(a Action) { p.plan.Action = a }

func (p *step) recheck(d time.Duration) { p.recheckAt(p.now.Add(d)) }

func (p *step) recheckAt(t time.Time) {
	if t.Before(p.now) {
		t = p.now
	}
	if t.Before(p.plan.RecheckAt) {
		p.plan.RecheckAt = t
	}
}

func (p *step) happened(code resource.EventCode, format string, args ...any) {
	p.plan.Happened = append(p.plan.Happened, resource.Event{
		At: p.now, Server: p.snap.Server, Code: code, Message: fmt.Sprintf(format, args...),
	})
}

// had says whether a condition was so before the step.
func (p *step) had(code resource.ConditionCode) bool {
	return slices.ContainsFunc(p.rec.Conditions, func(c resource.ConditionState) bool { return c.Code == code })
}

func (p *step) raise(code resource.ConditionCode, format string, args ...any) {
	if slices.ContainsFunc(p.conds, func(c resource.ConditionState) bool { return c.Code == code }) {
		return
	}
	p.conds = append(p.conds, resource.ConditionState{Code: code, Message: fmt.Sprintf(format, args...)})
}
