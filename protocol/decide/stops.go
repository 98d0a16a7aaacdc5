package decide

import (
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// stops brings a server to Off.
type stops struct {
	d *draft
	s *Snapshot
}

// clear decides about a ForceOff that is due, and notes it in the record.
func (ss stops) clear(st *Stop) bool {
	b, violated := ss.s.Bulk, false
	for _, h := range ss.d.holds {
		_, bad := ss.d.rec.Holds.Violated[h.ID]
		violated = violated || bad
	}
	c := clearRule(b.Key && b.Bound > 0, st.Cleared, violated, b.Approval != "", st.Waits, b.Others < b.Bound)
	switch c {
	case ClearWait:
		if !st.Waits {
			st.Waits, ss.d.dirty = true, true
		}
		return false
	case ClearSpend:
		ss.d.happened(resource.EventApproval, "forced off by approval %s", b.Approval)
	case ClearFree, ClearCount:
	}
	if !st.Cleared {
		st.Cleared, st.Waits, ss.d.dirty = true, false, true
		ss.d.plan.Cleared = Clearance{c, ss.d.now, b.Window, b.Approval}
	}
	return true
}

// keeps says whether nothing may stop the server. A hold does: it was there before (P1).
func (ss stops) keeps() bool {
	return ss.s.Intent != nil && ss.s.Intent.DisablePowerOff && len(ss.d.holds) == 0
}

// renew lets a stop that waited begin anew: a soft one has all its time.
func (ss stops) renew() {
	if !ss.d.watch.Waiting {
		return
	}
	ss.d.watch.Waiting = false
	if st := ss.d.rec.Stop; st != nil {
		st.Since, st.Graceful, st.Forced = ss.d.now, time.Time{}, time.Time{}
		ss.d.dirty = true
	}
}

// forceDue says whether the pause after the last ForceOff is over. A hold that came since
// begins anew: its owner waits for a proof.
func (ss stops) forceDue(s *Stop) bool {
	refused := s.Refused && s.Blind == 0 // what a BMC says that cannot be read is no reason to hurry
	pause := forcePause(s.ForceCount, refused)
	for _, h := range ss.d.holds {
		if h.EnforcedAt.After(s.Forced) {
			pause = min(pause, forcePause(1, refused))
		}
	}
	return ss.d.now.Sub(s.Forced) >= pause
}

// blind says whether ForceOff is sent although no power state can be read; see blindRule.
func (ss stops) blind(st *Stop, s stage) bool {
	u := ss.d.watch.Unread
	unread := !u.Since.IsZero() && ss.d.now.Sub(u.Since) >= blindAfter
	return blindRule(len(ss.d.holds) > 0, st.Mode, !ss.d.rec.unproved(ss.d.holds), unread, s != stageForced)
}

// lingers says whether a stop that nobody wants any more is kept, and has the server read until
// it is not; see lingerRule.
func (ss stops) lingers() bool {
	st := ss.d.rec.Stop
	if st == nil {
		return false
	}
	var until time.Time
	if !st.Graceful.IsZero() {
		until = st.Graceful.Add(ss.s.Settings.SoftTimeout)
	}
	if end := st.Forced.Add(resendForce); !st.Forced.IsZero() && end.After(until) {
		until = end
	}
	last := ss.d.watch.Last
	if !lingerRule(!until.IsZero(), last.Power == protocol.PowerOff, last.StartedAt.Before(until)) {
		return false
	}
	ss.d.recheck(activeInterval)
	return true
}

// lookAgain is how long after this step a server that is being stopped is read again.
func (ss stops) lookAgain(st stage) time.Duration {
	if closely(st, ss.d.rec.Stop.ForceCount == 1) == lookCalm {
		return activeInterval
	}
	took := ss.d.watch.Last.ReadAt.Sub(ss.d.watch.Last.StartedAt)
	return min(max(took, lookMin), activeInterval)
}

// holdMode is hard if any hold is, or if the server was powered on under one;
// else soft with the shortest time that a hold asks for.
func (ss stops) holdMode() (resource.StopMode, time.Duration) {
	violated := slices.ContainsFunc(ss.d.holds, func(h Hold) bool {
		_, is := ss.d.rec.Holds.Violated[h.ID]
		return is
	})
	return holdsMode(ss.d.holds, violated, ss.s.Settings.SoftTimeout)
}

// stageOf reads the stage of a stop. A stop that began while the server was
// already going down has sent nothing and still runs out.
func (ss stops) stageOf(s *Stop, softTimeout time.Duration) stage {
	now := ss.d.now
	switch {
	case !s.Forced.IsZero() && ss.forceDue(s):
		return stageForceDue
	case !s.Forced.IsZero():
		return stageForced
	case now.Sub(s.Since) >= softTimeout:
		return stageExpired
	case !s.Graceful.IsZero():
		return stageSoft
	default:
		return stageNew
	}
}

// advance advances the stop of the step's record and sets the action.
func (ss stops) advance(mode resource.StopMode, softTimeout time.Duration) {
	power := ss.d.watch.Last.Power
	switch power {
	case protocol.PowerOff:
		ss.end()
		ss.d.forgive(ActGraceful, ActForceOff, ActOn, ActRestart, ActArm, ActInsert)
		if !ss.d.rec.Residue.has(LeftOverride) {
			ss.d.forgive(ActDisarm)
		}
		return
	case protocol.PowerUnknown, protocol.PowerUnreachable:
		ss.d.recheck(activeInterval) // the time of a soft stop begins when it can begin
		if ss.d.rec.Stop == nil && !ss.blind(&Stop{Mode: mode}, stageNew) {
			return
		}
	case protocol.PowerOn, protocol.PowerPoweringOn, protocol.PowerPoweringOff, protocol.PowerPaused:
	}
	if ss.keeps() {
		ss.end()
		ss.d.raise(resource.CondPowerOffDisabled, "")
		return
	}
	if ss.d.rec.Stop == nil {
		ss.d.rec.Stop = &Stop{Mode: mode, Since: ss.d.now}
		ss.d.dirty = true
		ss.d.happened(resource.EventStopping, "%s", mode)
	}
	st := ss.d.rec.Stop
	if mode == resource.StopHard && st.Mode != mode {
		st.Mode = mode // a hard stop pre-empts a soft one under way
		ss.d.dirty = true
	}
	stg := ss.stageOf(st, softTimeout)
	act := stopStep(power, st.Mode, stg)
	blind := act == ActNone && ss.blind(st, stg)
	if blind {
		act = ActForceOff
	}
	if act == ActGraceful && ss.d.now.Before(ss.d.watch.Pause) {
		act = ActNone
		ss.d.recheckAt(ss.d.watch.Pause)
	}
	if act == ActForceOff && !ss.clear(st) {
		act = ActNone
	}
	switch act {
	case ActGraceful:
		st.Graceful = ss.d.now
		ss.d.ordered(act, "%s", keysOf(ss.d.holds))
	case ActForceOff:
		if !st.Graceful.IsZero() && st.Forced.IsZero() {
			ss.d.plan.Measured.Escalations++
		}
		st.Forced, st.Refused = ss.d.now, false
		st.ForceCount++
		if blind {
			st.Blind++
		}
		ss.d.ordered(act, "%s", keysOf(ss.d.holds))
	case ActNone, ActArm, ActDisarm, ActOn, ActRestart, ActReadPolicy, ActGuard, ActUnguard, ActInsert, ActEject, ActClearURL, ActReadFirmware, ActWriteFirmware:
	}
	ss.d.act(Action{Kind: act})
	ss.d.watch.Stopping = true
	if !st.Waits {
		ss.d.recheck(ss.lookAgain(stg))
	}
	if stg == stageSoft || stg == stageNew {
		ss.d.recheckAt(st.Since.Add(softTimeout))
	}
}

// result folds the answer to what was sent.
func (ss stops) result(r Result) {
	st := ss.d.rec.Stop
	if st == nil {
		return
	}
	if r.Code == "" {
		if r.Action == ActForceOff {
			st.Taken++
			ss.d.dirty = true
		}
		return
	}
	ss.d.refused(r)
	switch {
	case r.Action == ActGraceful && !r.Busy && refusesSoft(r.Code):
		// No graceful shutdown here: hard at once, without waiting (baremetal-operator 984).
		st.Mode = resource.StopHard
		ss.d.dirty = true
	case r.Action == ActGraceful:
		st.Graceful = time.Time{} // not sent; try again while time is left
		ss.d.watch.Pause = ss.d.now.Add(pauseOf(retryStop, r))
		ss.d.dirty = true
	case r.Action == ActForceOff:
		// Refused or lost: the next read tells; send again soon, not at once.
		st.Forced, st.Refused, ss.d.dirty = ss.d.now, true, true
	}
}

// end forgets a stop: the server is Off, or nobody wants it stopped.
func (ss stops) end() {
	ss.d.watch.Stopping = false
	if ss.d.rec.Stop != nil {
		ss.d.rec.Stop = nil
		ss.d.forgive(ActGraceful, ActForceOff)
		ss.d.watch.Pause = time.Time{}
		ss.d.dirty = true
	}
}

// unrecorded notes that ForceOff was sent while nothing could be recorded.
func (ss stops) unrecorded(o Overlay) {
	at, st := o.Forced, ss.d.rec.Stop
	if st == nil {
		st = &Stop{Since: at}
		ss.d.rec.Stop = st
	}
	st.Mode, st.Forced, ss.d.dirty = resource.StopHard, at, true
	st.ForceCount += max(1, o.Tries)
	if !st.Cleared {
		violated := false
		for _, h := range ss.d.holds {
			_, bad := ss.d.rec.Holds.Violated[h.ID]
			violated = violated || bad
		}
		b := ss.s.Bulk
		st.Cleared = true
		if clearRule(b.Key && b.Bound > 0, false, violated, false, false, true) == ClearCount {
			ss.d.plan.Cleared = Clearance{How: ClearCount, At: at, Window: b.Window}
		}
	}
	ss.d.ordered(ActForceOff, "%s; sent %d times, last at %s, while nothing could be recorded", keysOf(ss.d.holds), o.Sent, at.UTC().Format(time.RFC3339))
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

// untaken notes that the last ForceOff failed after the BMC had taken it.
func (ss stops) untaken() {
	if st := ss.d.rec.Stop; st != nil && st.Taken > 0 {
		st.Taken--
		ss.d.dirty = true
	}
}
