package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// disarming clears overrides of attempts that nothing consumed, or that the BMC keeps against our
// will (P6).
type disarming struct {
	d *draft
}

func (da disarming) result(r Result) {
	a, way := da.d.rec.Attempt, da.way()
	switch {
	case way == DisarmHdd && way.done(r):
		da.end()
		da.leave(r.Stored, protocol.BMCFault{Text: "the BMC takes none away; this one was put in the place of what was armed"}, false)
		da.d.forgive(ActDisarm)
	case way.done(r),
		a.hidden() && r.Code == protocol.CodeUnsupported: // where none can be stored, none is left
		da.end()
	default:
		da.nextWay(a, r)
	}
}

// nextWay goes on after a write that did not disarm: again after a pause, by the next way,
// or it is left.
func (da disarming) nextWay(a *Attempt, r Result) {
	da.d.refused(r)
	n := da.d.watch.Refused[ActDisarm].Times
	da.d.watch.Pause = da.d.now.Add(pauseOf(disarmAgain(n), r))
	left := da.d.watch.Last.Override
	if r.Stored.Armed() {
		left = r.Stored // it was read back
	}
	next := disarmRule(da.way(), replyOf(r), n >= disarmTries, left.Target == protocol.TargetHdd)
	switch {
	case next == DisarmLeave:
		if !left.Armed() {
			left = a.Stage.Arming.Stored
		}
		da.end()
		da.leave(left, r.Fault, a.hidden())
		da.d.forgive(ActDisarm)
	case next != da.way():
		if da.d.rec.Residue.has(LeftOverride) { // else it is cleared no more
			da.d.rec.Residue.put(Left{Kind: LeftOverride, Way: next})
		}
		da.d.dirty, da.d.watch.Pause = true, da.d.now
		da.d.countAnew(ActDisarm)
	}
}

// end ends the clearing of an attempt's override.
func (da disarming) end() {
	da.d.rec.Residue.drop(LeftOverride)
	da.d.dirty = true
}

// way is how the attempt's override is cleared now.
func (da disarming) way() DisarmWay {
	l, _ := da.d.rec.Residue.of(LeftOverride)
	return l.Way
}

// left says whether an override is to be cleared that nothing consumed (P6). It is
// never written while the server may be about to consume it.
func (da disarming) left() leftIs {
	a := da.d.rec.Attempt
	if a == nil || !da.d.rec.Residue.has(LeftOverride) || da.d.watch.Last.Power != protocol.PowerOff {
		return leftNothing
	}
	o := da.d.watch.Last.Override
	ours := da.way() == DisarmHdd && o.Target == protocol.TargetHdd || o.Target == a.Order.Target || o.Target == a.Stage.Arming.Stored.Target || o.Target == a.Stage.Arming.Read.Target || o.Target == a.Stage.Arming.Over
	if da.d.rec.isLeft(o) || o.Armed() && !ours || !o.Armed() && !a.hidden() {
		return leftGone // or it is another party's
	}
	return leftDue
}

// disarm clears it, and reports whether there is something to wait for: it waits after a refusal.
func (da disarming) disarm() bool {
	switch da.left() {
	case leftGone:
		da.end()
	case leftDue:
		da.send()
		return true
	case leftNothing:
	}
	return false
}

// lasting clears an override that the BMC keeps although it was written for once
// (CoercedContinuous), when firmware is known to have taken it: the server would boot
// the same again whatever restarts it.
func (da disarming) lasting() {
	a := da.d.rec.Attempt
	if a == nil || !da.d.rec.Residue.has(LeftOverride) || a.Stage.Arming.Outcome != protocol.BootCoercedContinuous || da.d.watch.Last.Power != protocol.PowerOn {
		return
	}
	switch a.Stage.State {
	case resource.AttemptConsumed, resource.AttemptFetched, resource.AttemptSucceeded:
	case resource.AttemptPreparing, resource.AttemptArmed, resource.AttemptPowerRequested, resource.AttemptFailed:
		return
	}
	if o := da.d.watch.Last.Override; !o.Armed() || !a.isOurs(o) || da.d.rec.isLeft(o) {
		da.end()
		return
	}
	da.send()
}

func (da disarming) send() {
	if da.d.now.Before(da.d.watch.Pause) {
		da.d.recheckAt(da.d.watch.Pause)
		return
	}
	da.d.act(Action{
		Kind: ActDisarm, Attempt: da.d.rec.Attempt.ID,
		Override: da.way().override(),
	})
	da.d.recheck(activeInterval)
}

// leave notes what stays armed. Nothing writes to it any more but our next power-on.
func (da disarming) leave(o protocol.Override, f protocol.BMCFault, hidden bool) {
	da.d.rec.Residue.put(Left{Kind: LeftKept, Kept: &Kept{Override: o, Since: da.d.now, Fault: f, Hidden: hidden}})
	da.d.dirty = true
	da.d.happened(resource.EventOverrideLeft, "%s %s stays armed: %s", o.Target, o.Enabled, f.Words())
}

// leftover forgets what stayed armed once a read shows that it does not any more. A BMC may
// come to show it in other words, such as Continuous.
func (da disarming) leftover(o protocol.Observation) {
	l := da.d.rec.Residue.Kept()
	switch {
	case l == nil || l.Hidden || o.Power == protocol.PowerUnknown || o.Power == protocol.PowerUnreachable || o.Override == l.Override:
	case o.Override.Armed() && o.Override.Target == l.Override.Target:
		l.Override, da.d.dirty = o.Override, true
	default:
		da.overwritten()
		da.d.dirty = true
	}
}

// overwritten forgets what stayed armed: an override of ours was written over it.
func (da disarming) overwritten() { da.d.rec.Residue.drop(LeftKept) }
