package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// rearming arms the disk for restarts that the operating system does by itself, and clears it.
type rearming struct {
	d *draft
	s *Snapshot
}

func (ra rearming) disarming() disarming { return disarming{ra.d} }

// advance does the next step of it, and reports whether firmware took it: the server has restarted by
// itself. want is that the disk is to be armed now.
func (ra rearming) advance(want bool) (taken bool) {
	r, state := ra.d.rec.Residue.Rearm(), RearmNone
	if r != nil {
		state = r.State
	}
	if state == RearmNone && !want {
		return false
	}
	next, act := rearmStep(want, runningOf(ra.d.watch.Last.Power), state, ra.d.rec.Residue.Rearm().has(ra.d.watch.Last.Override))
	switch {
	case next == RearmNone:
		ra.forget()
		ra.d.dirty = true
	case r == nil:
		ra.d.rec.Residue.put(Left{Kind: LeftRearm, Rearm: &Rearm{ID: ra.s.NewID, State: next}})
		ra.d.dirty = true
	case next != state:
		r.State, ra.d.dirty = next, true
	}
	switch act {
	case rearmTaken:
		return true
	case rearmArm:
		ra.send(Action{Kind: ActArm, Override: protocol.Override{Target: protocol.TargetHdd, Enabled: protocol.OverrideOnce, Mode: "UEFI"}})
	case rearmDisarm:
		ra.drop()
	case rearmNothing:
	}
	return false
}

// left says whether what is armed for restarts is to be cleared.
func (ra rearming) left() leftIs {
	r := ra.d.rec.Residue.Rearm()
	if r == nil {
		return leftNothing
	}
	o := ra.d.watch.Last.Override
	shown := o.Armed() && ra.d.rec.Residue.Rearm().has(ra.d.watch.Last.Override) == armedOurs
	hidden := r.Outcome == protocol.BootPendingReset || r.Outcome == protocol.BootUnknown
	if r.State != RearmUndo && (r.State == RearmGivenUp || !shown && !hidden) || o.Armed() && !shown || ra.d.rec.isLeft(o) {
		return leftGone
	}
	return leftDue
}

// drop clears it, and reports whether there is something to wait for.
func (ra rearming) drop() bool {
	switch ra.left() {
	case leftGone:
		ra.forget()
		ra.d.dirty = true
	case leftDue:
		ra.send(Action{Kind: ActDisarm, Override: ra.d.rec.Residue.Rearm().Way.override()})
		return true
	case leftNothing:
	}
	return false
}

func (ra rearming) send(a Action) {
	if ra.d.now.Before(ra.d.watch.RearmNext) {
		ra.d.recheckAt(ra.d.watch.RearmNext)
		return
	}
	a.Attempt = ra.d.rec.Residue.Rearm().ID
	ra.d.act(a)
	ra.d.recheck(activeInterval)
}

// result folds the answer to an arm or disarm of it, and says whether it was one.
func (ra rearming) result(r Result) bool {
	re := ra.d.rec.Residue.Rearm()
	if re == nil || re.ID != r.Attempt {
		return false
	}
	ra.d.dirty = true
	if r.Action == ActDisarm {
		switch {
		case re.Way.done(r), re.Outcome == protocol.BootUnknown && r.Code == protocol.CodeUnsupported:
			ra.over(re)
		default:
			ra.pause(r)
			ra.nextWay(r)
		}
		return true
	}
	re.Read, re.Outcome = r.Read, r.Outcome
	switch fate := armRule(r.Outcome, faultOf(r)); {
	case fate == fateArmed && r.Outcome == protocol.BootCoercedContinuous:
		re.State = RearmUndo
	case fate == fateArmed:
		re.State = RearmArmed
		ra.d.watch.Last.Override = r.Stored
		ra.d.happened(resource.EventArmed, "%s %s, for a restart of the operating system", r.Stored.Target, r.Stored.Enabled)
	case fate == fateEnds:
		if re.State = RearmUndo; r.Code == protocol.CodeUnsupported || r.Outcome == protocol.BootDropped {
			re.State = RearmGivenUp
		}
	default:
		ra.pause(r)
	}
	return true
}

func (ra rearming) pause(r Result) {
	ra.d.refused(r)
	ra.d.watch.RearmNext = ra.d.now.Add(pauseOf(rearmPause, r))
}

// nextWay goes on to the next way of clearing it, and at the end leaves it.
func (ra rearming) nextWay(r Result) {
	re := ra.d.rec.Residue.Rearm()
	switch next := disarmRule(re.Way, replyOf(r), ra.d.watch.Refused[ActDisarm].Times >= disarmTries, true); {
	case next == DisarmLeave:
		left := ra.d.watch.Last.Override
		if r.Stored.Armed() {
			left = r.Stored
		}
		ra.over(re)
		if !left.Armed() {
			left = protocol.Override{Target: protocol.TargetHdd, Enabled: protocol.OverrideOnce}
		}
		ra.disarming().leave(left, r.Fault, re.Outcome == protocol.BootPendingReset || re.Outcome == protocol.BootUnknown)
		ra.d.forgive(ActDisarm)
	case next != re.Way:
		re.Way, ra.d.watch.RearmNext = next, ra.d.now
		ra.d.countAnew(ActDisarm)
	}
}

// forget forgets what is armed for restarts: a boot from disk writes the same override.
func (ra rearming) forget() { ra.d.rec.Residue.drop(LeftRearm) }

// over ends the clearing of it. One that the BMC would have kept for ever is not armed again in
// this run.
func (ra rearming) over(re *Rearm) {
	if ra.forget(); re.State == RearmUndo {
		ra.d.rec.Residue.put(Left{Kind: LeftRearm, Rearm: &Rearm{ID: re.ID, State: RearmGivenUp}})
	}
}
