package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// stage is how far a stop has come.
type stage string

const (
	stageNew      stage = "new"      // nothing sent
	stageSoft     stage = "soft"     // GracefulShutdown sent, time left
	stageExpired  stage = "expired"  // GracefulShutdown sent or refused, no time left
	stageForced   stage = "forced"   // ForceOff sent a moment ago
	stageForceDue stage = "forcedue" // ForceOff sent, and time to send it again
)

var stages = []stage{stageNew, stageSoft, stageExpired, stageForced, stageForceDue}

// resendForce is how long a ForceOff may take before it is sent again.
const resendForce = 10 * time.Second

// stopStep says what to send next to bring a server to Off. Only Off itself ends
// it: PoweringOff is a server that still runs (Ironic takes it for off, and then skips the hard stop), and
// an unknown state is read again, with nothing sent. The first row that fits
// decides.
//
//	power       | mode | stage    | action
//	Off         | *    | *        | none
//	Unknown     | *    | *        | none
//	Unreachable | *    | *        | none
//	*           | hard | new      | force-off
//	*           | hard | soft     | force-off
//	*           | hard | expired  | force-off
//	*           | *    | forced   | none
//	*           | *    | forcedue | force-off
//	PoweringOff | soft | new      | none
//	*           | soft | new      | graceful-shutdown
//	*           | soft | soft     | none
//	*           | soft | expired  | force-off
func stopStep(power protocol.PowerState, mode resource.StopMode, st stage) ActionKind {
	switch power {
	case protocol.PowerOff, protocol.PowerUnknown, protocol.PowerUnreachable:
		return ActNone
	case protocol.PowerOn, protocol.PowerPoweringOn, protocol.PowerPoweringOff, protocol.PowerPaused:
	}
	switch {
	case st == stageForced:
		return ActNone
	case st == stageForceDue, st == stageExpired, mode == resource.StopHard:
		return ActForceOff
	case st == stageNew && power != protocol.PowerPoweringOff:
		return ActGraceful
	}
	return ActNone
}

// stageOf reads the stage of a stop. A stop that began while the server was
// already going down has sent nothing and still runs out.
func (p *step) stageOf(s *Stop, softTimeout time.Duration) stage {
	now := p.now
	switch {
	case !s.Forced.IsZero() && p.forceDue(s):
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

// stop advances the stop of the step's record and sets the action.
func (p *step) stop(mode resource.StopMode, softTimeout time.Duration) {
	power := p.watch.Last.Power
	switch power {
	case protocol.PowerOff:
		p.endStop()
		p.forgive(ActGraceful, ActForceOff, ActOn, ActRestart, ActArm, ActInsert)
		if a := p.rec.Attempt; a == nil || !a.Disarm {
			p.forgive(ActDisarm)
		}
		return
	case protocol.PowerUnknown, protocol.PowerUnreachable:
		p.recheck(activeInterval) // the time of a soft stop begins when it can begin
		if p.rec.Stop == nil && !p.blind(&Stop{Mode: mode}, stageNew) {
			return
		}
	case protocol.PowerOn, protocol.PowerPoweringOn, protocol.PowerPoweringOff, protocol.PowerPaused:
	}
	if p.rec.Stop == nil {
		p.rec.Stop = &Stop{Mode: mode, Since: p.now}
		p.dirty = true
		p.happened(resource.EventStopping, "%s", mode)
	}
	st := p.rec.Stop
	if mode == resource.StopHard && st.Mode != mode {
		st.Mode = mode // a hard stop pre-empts a soft one under way
		p.dirty = true
	}
	stg := p.stageOf(st, softTimeout)
	act := stopStep(power, st.Mode, stg)
	blind := act == ActNone && p.blind(st, stg)
	if blind {
		act = ActForceOff
	}
	if act == ActGraceful && p.now.Before(p.watch.Pause) {
		act = ActNone
		p.recheckAt(p.watch.Pause)
	}
	if act == ActForceOff && !p.clear(st) {
		act = ActNone
	}
	switch act {
	case ActGraceful:
		st.Graceful = p.now
		p.ordered(act, "%s", p.keys())
	case ActForceOff:
		if !st.Graceful.IsZero() && st.Forced.IsZero() {
			p.plan.Measured.Escalations++
		}
		st.Forced, st.Refused = p.now, false
		st.ForceCount++
		if blind {
			st.Blind++
		}
		p.ordered(act, "%s", p.keys())
	case ActNone, ActArm, ActDisarm, ActOn, ActRestart, ActReadPolicy, ActGuard, ActUnguard, ActInsert, ActEject, ActClearURL:
	}
	p.act(Action{Kind: act})
	p.watch.Stopping = true
	if !st.Waits {
		p.recheck(p.lookAgain(stg))
	}
	if stg == stageSoft || stg == stageNew {
		p.recheckAt(st.Since.Add(softTimeout))
	}
}

// stopResult folds the answer to what stop sent.
func (p *step) stopResult(r Result) {
	st := p.rec.Stop
	if st == nil {
		return
	}
	if r.Code == "" {
		if r.Action == ActForceOff {
			st.Taken++
			p.dirty = true
		}
		return
	}
	p.refused(r)
	switch {
	case r.Action == ActGraceful && !r.Busy && refusesSoft(r.Code):
		// No graceful shutdown here: hard at once, without waiting (baremetal-operator 984).
		st.Mode = resource.StopHard
		p.dirty = true
	case r.Action == ActGraceful:
		st.Graceful = time.Time{} // not sent; try again while time is left
		p.watch.Pause = p.now.Add(pauseOf(retryStop, r))
		p.dirty = true
	case r.Action == ActForceOff:
		// Refused or lost: the next read tells; send again soon, not at once.
		st.Forced, st.Refused, p.dirty = p.now, true, true
	}
}

// refusesSoft says whether a BMC answered that it will not: with a status of 4xx, or
// by not offering the reset. It does not get the soft timeout for that.
func refusesSoft(c protocol.Code) bool {
	switch c {
	case protocol.CodeUnsupported, protocol.CodeInvalid, protocol.CodeConflict, protocol.CodeNotFound, protocol.CodeDenied:
		return true
	case protocol.CodeUnavailable, protocol.CodeTimeout, protocol.CodeInternal:
	}
	return false
}

// retryStop is the pause after a stop that the BMC refused.
const retryStop = 3 * time.Second

// endStop forgets a stop: the server is Off, or nobody wants it stopped.
func (p *step) endStop() {
	p.watch.Stopping = false
	if p.rec.Stop != nil {
		p.rec.Stop = nil
		p.forgive(ActGraceful, ActForceOff)
		p.watch.Pause = time.Time{}
		p.dirty = true
	}
}
