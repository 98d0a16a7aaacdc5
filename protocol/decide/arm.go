package decide

import (
	"cmp"
	"fmt"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// armed is what override the BMC holds, as an attempt sees it.
type armed string

const (
	armedOurs  armed = "ours"  // the attempt's target
	armedOther armed = "other" // another party's
	armedNone  armed = "none"
)

// armedOf reads the override of the last read. One that the BMC shows under another
// name is ours by that name too: a driver that was opened again does not know what it
// wrote. One that a BMC keeps after firmware took it counts as taken.
func (p *step) armedOf() armed {
	o := p.watch.Last.Override
	switch {
	case !o.Armed():
		return armedNone
	case !p.isOurs(o):
		return armedOther
	case p.tookDisk():
		return armedNone
	}
	return armedOurs
}

// isOurs says whether an override that is armed is what the attempt wrote.
func (p *step) isOurs(o protocol.Override) bool {
	a := p.rec.Attempt
	return o.Target == a.Intended || a.Outcome == protocol.BootAliased && o.Target == a.Read.Target
}

// tookDisk says whether firmware took an override to the disk that its BMC keeps
// (CoercedContinuous): nothing takes it away, and the disk asks nobody. What is known
// is that an operating system is loading, which is a hint and enough here, or that
// POST is long over: if either is wrong, the boot order decides, and no network boot
// is served.
func (p *step) tookDisk() bool {
	a, o := p.rec.Attempt, p.watch.Last
	return a.Outcome == protocol.BootCoercedContinuous && !a.Network() && o.Power == protocol.PowerOn &&
		(o.BootProgress == "OSBootStarted" || o.BootProgress == "OSRunning" || p.now.Sub(a.Since) >= consumeTimeout)
}

// fault is what matters of the error that came with an override's outcome.
type fault string

const (
	faultNone  fault = "none"
	faultBusy  fault = "busy"  // the BMC asked for a pause
	faultNever fault = "never" // unsupported
	faultOther fault = "other"
)

func faultOf(r Result) fault {
	switch {
	case r.Code == "":
		return faultNone
	case r.Busy:
		return faultBusy
	case r.Code == protocol.CodeUnsupported:
		return faultNever
	}
	return faultOther
}

// fate is what becomes of an attempt whose override was written.
type fate string

const (
	fateArmed fate = "armed"
	fateWaits fate = "waits" // for the BMC, for armPatience
	fateAgain fate = "again" // for a while
	fateEnds  fate = "ends"  // with OverrideNotStored
)

// armRule is the table of outcomes. The first row that fits decides.
//
//	outcome           | error | fate
//	Stored            | none  | armed
//	PendingReset      | none  | armed
//	Aliased           | none  | armed
//	CoercedContinuous | none  | armed
//	RefusedByState    | *     | waits
//	*                 | busy  | waits
//	Unsupported       | *     | ends
//	*                 | never | ends
//	Reverted          | none  | ends
//	Dropped           | none  | ends
//	*                 | *     | again
//
// What is stored with an error is not believed: it may be armed in the wrong mode.
// CoercedContinuous boots as wanted, and would again and again: it is cleared as soon
// as firmware is known to have taken it (see lasting).
func armRule(o protocol.BootOutcome, f fault) fate {
	switch {
	case f == faultNone && (o.OK() || o == protocol.BootCoercedContinuous):
		return fateArmed
	case o == protocol.BootRefusedByState, f == faultBusy:
		return fateWaits
	case o == protocol.BootUnsupported, f == faultNever:
		return fateEnds
	case f == faultNone && (o == protocol.BootReverted || o == protocol.BootDropped):
		return fateEnds
	default:
		return fateAgain
	}
}

// told is an outcome in words.
func told(r Result) string {
	s := string(r.Outcome)
	if r.Where != "" {
		s += " at " + r.Where
	}
	text := r.Text
	if text == "" {
		text = r.Message
	}
	if text != "" {
		s += ": " + text
	}
	return s
}

// armResult folds the answer to an arm or disarm.
func (p *step) armResult(r Result) {
	if p.rearmResult(r) {
		return
	}
	a := p.rec.Attempt
	if a == nil || a.ID != r.Attempt {
		return
	}
	if r.Action == ActDisarm {
		p.disarmResult(r)
		return
	}
	a.Stored, a.Read, a.Outcome = r.Stored, r.Read, r.Outcome // for the disarm, if it ended meanwhile
	a.URI = a.URI && !r.Plain
	p.dirty = true
	if a.State != resource.AttemptPreparing {
		return
	}
	fate := armRule(r.Outcome, faultOf(r))
	if fate != fateArmed {
		p.plan.Measured.Overrides = append(p.plan.Measured.Overrides, cmp.Or(r.Outcome, protocol.BootUnknown))
	}
	switch fate {
	case fateArmed:
		p.rec.Left = nil // it is written over
		p.enter(resource.AttemptArmed)
		p.mark(&a.Marks.Armed, p.now, PartArm, a.Marks.Written)
		p.watch.Last.Override = r.Stored
		if r.Outcome == protocol.BootStored {
			p.happened(resource.EventArmed, "%s %s, read back", r.Stored.Target, r.Stored.Enabled)
		} else {
			p.happened(resource.EventArmed, "%s %s, %s", r.Stored.Target, r.Stored.Enabled, told(r))
		}
	case fateEnds:
		p.fail(fmt.Sprintf("%s: %s %s was written; %s", resource.CondOverrideNotStored, a.Intended, protocol.OverrideOnce, told(r)), resource.AttemptNotStored)
	case fateWaits:
		if p.now.Sub(a.Since) > armTimeout/2 && p.now.Sub(a.Marks.Written) < armPatience {
			p.enter(a.State) // a BMC that is busy does not run out the attempt's time
		}
		p.refused(r)
		p.watch.NextTry = p.now.Add(pauseOf(attemptBackoff, r))
		if r.Fault.Kind == protocol.FaultPrecondition { // that no pause mends
			p.watch.NextTry = p.now.Add(againPause(p.watch.Refused[ActArm].Times))
		}
	case fateAgain:
		p.refused(r)
		p.watch.NextTry = p.now.Add(pauseOf(attemptBackoff, r))
	}
}

func (p *step) disarmResult(r Result) {
	a := p.rec.Attempt
	switch {
	case a.Way == DisarmHdd && a.Way.done(r):
		p.endDisarm(a)
		p.leave(r.Stored, p.watch.Refused[ActDisarm].Fault, false)
		p.forgive(ActDisarm)
	case a.Way.done(r),
		a.hidden() && r.Code == protocol.CodeUnsupported: // where none can be stored, none is left
		p.endDisarm(a)
	default:
		p.nextWay(a, r)
	}
}

// nextWay goes on after a write that did not disarm: again after a pause, by the next way,
// or it is left.
func (p *step) nextWay(a *Attempt, r Result) {
	p.refused(r)
	n := p.watch.Refused[ActDisarm].Times
	p.watch.Pause = p.now.Add(pauseOf(disarmAgain(n), r))
	left := p.watch.Last.Override
	if r.Stored.Armed() {
		left = r.Stored // it was read back
	}
	next := disarmRule(a.Way, replyOf(r), n >= disarmTries, left.Target == protocol.TargetHdd)
	switch {
	case next == DisarmLeave:
		if !left.Armed() {
			left = a.Stored
		}
		p.endDisarm(a)
		p.leave(left, r.Fault, a.hidden())
		p.forgive(ActDisarm)
	case next != a.Way:
		a.Way, p.dirty, p.watch.Pause = next, true, p.now
		p.countAnew(ActDisarm)
	}
}

// endDisarm ends the clearing of an attempt's override.
func (p *step) endDisarm(a *Attempt) {
	a.Disarm, a.Way, p.dirty = false, DisarmDisabled, true
}

// hidden says whether the BMC may hold an override of the attempt that a read of the
// system does not show: in a settings object, or written without an answer.
func (a *Attempt) hidden() bool {
	return a.Outcome == protocol.BootPendingReset || a.Outcome == protocol.BootUnknown
}

// disarm clears an override that nothing consumed (P6). It never writes while the
// server may be about to consume it, and waits after a refusal.
func (p *step) disarm() bool {
	a := p.rec.Attempt
	if a == nil || !a.Disarm || p.watch.Last.Power != protocol.PowerOff {
		return false
	}
	o := p.watch.Last.Override
	if p.isLeft(o) {
		p.endDisarm(a)
		return false
	}
	left := a.Way == DisarmHdd && o.Target == protocol.TargetHdd || o.Target == a.Intended || o.Target == a.Stored.Target || o.Target == a.Read.Target || o.Target == a.Left
	if o.Armed() && !left || !o.Armed() && !a.hidden() {
		p.endDisarm(a) // or it is another party's
		return false
	}
	p.sendDisarm()
	return true
}

// lasting clears an override that the BMC keeps although it was written for once
// (CoercedContinuous), when firmware is known to have taken it: the server would boot
// the same again whatever restarts it.
func (p *step) lasting() {
	a := p.rec.Attempt
	if a == nil || !a.Disarm || a.Outcome != protocol.BootCoercedContinuous || p.watch.Last.Power != protocol.PowerOn {
		return
	}
	switch a.State {
	case resource.AttemptConsumed, resource.AttemptFetched, resource.AttemptSucceeded:
	case resource.AttemptPreparing, resource.AttemptArmed, resource.AttemptPowerRequested, resource.AttemptFailed:
		return
	}
	if o := p.watch.Last.Override; !o.Armed() || !p.isOurs(o) || p.isLeft(o) {
		p.endDisarm(a)
		return
	}
	p.sendDisarm()
}

func (p *step) sendDisarm() {
	if p.now.Before(p.watch.Pause) {
		p.recheckAt(p.watch.Pause)
		return
	}
	p.act(Action{
		Kind: ActDisarm, Attempt: p.rec.Attempt.ID,
		Override: p.rec.Attempt.Way.override(),
	})
	p.recheck(activeInterval)
}

// pauseMax bounds what a BMC may ask for: holds and boots are tried for ever, and
// never less often.
const pauseMax = 30 * time.Second

// pauseOf is how long to wait after an answer: d, or what the BMC asked for.
func pauseOf(d time.Duration, r Result) time.Duration {
	return max(d, min(r.RetryAfter, pauseMax))
}
