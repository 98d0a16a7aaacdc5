package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// resumable says what of the server can be resumed.
func (rq requests) resumable() resumable {
	a, in := rq.d.rec.Attempt, rq.s.Intent
	if in == nil || in.Boot == nil {
		return resumeUnsaid
	}
	if a.Open() {
		return resumeBoot
	}
	use := rq.d.rec.Owners.Used[grantKey(in.Boot)]
	mine := a != nil && a.Order.OwnerUID == in.Owner.UID
	switch done := rq.d.rec.bootsDisk(rq.s.Intent, rq.s.Echo); {
	case !done && !use.Repeat && (use.Spent || rq.s.Grant != nil && use.Attempts >= rq.s.Grant.MaxAttempts && use.Attempts > 0):
		return resumeSpent
	case rq.d.rec.Unexpected != nil, use.Ran, mine && a.Stage.State == resource.AttemptFailed && !a.Stage.Ending.Abandoned:
		return resumeLost
	case done && mine && a.Stage.State == resource.AttemptSucceeded && a.Network() && rq.d.rec.Shown.Power == protocol.PowerOn:
		return resumeLost // its installer did not end as it should
	}
	return resumeNothing
}

// restartable says whether a reboot can be done without a stop, in the mode that was asked for: of a
// boot from disk, by a restart that the BMC does not say it lacks.
func (rq requests) restartable(mode resource.StopMode) resumable {
	in := rq.s.Intent
	switch {
	case in == nil || in.Boot == nil:
		return resumeUnsaid
	case rq.d.rec.Attempt.Open():
		return resumeBoot
	case !rq.d.rec.bootsDisk(in, rq.s.Echo), rq.starts():
		return resumeStops
	}
	offer := protocol.Offer("")
	if s := rq.d.rec.Safety; s != nil && mode == resource.StopHard {
		offer = s.Offers.ForceRestart
	} else if s != nil {
		offer = s.Offers.GracefulRestart
	}
	if offer == protocol.OfferedNo {
		return resumeStops
	}
	return resumeLost
}

func (rq requests) resumedOf(s *RequestState) resumed {
	a := rq.d.rec.Attempt
	switch {
	case a == nil || a.At.Before(s.AcceptedAt) || a.Stage.PowerOn.Sent.IsZero() && (!a.Open() || len(rq.d.holds) > 0):
		return resumedNot
	case a.Stage.State == resource.AttemptFailed && s.Fallback && a.Order.Restart:
		return resumedNot // it goes on by a stop
	case a.Stage.State == resource.AttemptFailed:
		return resumedFailed
	case a.Stage.State == resource.AttemptConsumed, a.Stage.State == resource.AttemptFetched, a.Stage.State == resource.AttemptSucceeded:
		return resumedRuns
	}
	return resumedSent
}

// resuming is the resume that is to be done, or nil.
func (rq requests) resuming() *RequestState {
	for i := range rq.d.rec.Requests {
		if s := &rq.d.rec.Requests[i]; s.resumes() && s.Outcome == resource.OutcomePending && rq.resumedOf(s) == resumedNot {
			return s
		}
	}
	return nil
}

// stopsFirst says whether a resume stops the server: what it boots is not on the disk,
// its BMC does not restart it, or firmware may be about to choose what it boots.
func (rq requests) stopsFirst(s *RequestState) bool {
	return rq.resumedOf(s) == resumedNot && (s.Fallback || rq.starts() || !rq.d.rec.bootsDisk(rq.s.Intent, rq.s.Echo))
}

// starts says whether firmware may still be about to choose what our last On boots, of an attempt
// that failed before it was seen to: nothing is armed meanwhile (P6).
func (rq requests) starts() bool {
	a := rq.d.rec.Attempt
	if a == nil || a.Stage.State != resource.AttemptFailed || a.Stage.Observed != "" || a.Stage.PowerOn.Sent.IsZero() {
		return false
	}
	age := rq.d.now.Sub(a.Stage.PowerOn.Sent)
	return age >= 0 && age < consumeTimeout
}

// askedHere says whether a resume that was asked for at the agent stops the server: it
// is on this disk, by this agent's clock, and waits for no hub.
func (rq requests) askedHere() bool {
	s := rq.resuming()
	return s != nil && s.Local
}

// retry renews a grant that is used up, once for each order.
func (rq requests) retry(key string, use GrantUse, limit int) GrantUse {
	s := rq.resuming()
	if s == nil || !s.Retry || s.Renewed || !use.Spent && use.Attempts < limit {
		return use
	}
	s.Renewed, rq.d.dirty = true, true
	rq.d.happened(resource.EventResumed, "%s lets the first boot be tried anew: %s", s.By, s.Why)
	use = GrantUse{Repeat: use.Repeat}
	rq.d.rec.Owners.use(key, use)
	return use
}

// stopFirst has the resumes that are under way stop and start the server; a reboot of one that is never
// powered off ends.
func (rq requests) stopFirst() {
	for i := range rq.d.rec.Requests {
		switch s := &rq.d.rec.Requests[i]; {
		case !s.resumes() || s.Outcome != resource.OutcomePending:
		case s.Restart:
			rq.end(s, resource.OutcomeRefused, needsStop)
		default:
			s.Fallback = true
		}
	}
}
