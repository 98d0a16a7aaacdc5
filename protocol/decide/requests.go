package decide

import (
	"slices"
	"time"

	"rackboot/protocol/resource"
)

// requests accepts one-shots, and follows them to their end.
type requests struct {
	d *draft
	s *Snapshot
}

func (rq requests) stops() stops { return stops(rq) }

// remember moves the ended requests that were not sent out of the list, into that of what
// is remembered.
func (rq requests) remember(sent map[string]bool) {
	gone := func(s RequestState) bool { return s.Outcome != resource.OutcomePending && !sent[s.ID] }
	if !slices.ContainsFunc(rq.d.rec.Requests, gone) {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(rq.d.rec.Ended), func(e EndedRequest) bool { return rq.d.now.Sub(e.At) > endedFor })
	for _, s := range rq.d.rec.Requests {
		if gone(s) && !s.Local {
			kept = append(kept, EndedRequest{ID: s.ID, Outcome: s.Outcome, At: s.EndedAt, Reason: s.Reason})
		}
	}
	rq.d.rec.Ended = kept[max(0, len(kept)-keepEnded):]
	rq.d.rec.Requests = slices.DeleteFunc(rq.d.rec.Requests, gone)
	rq.d.dirty = true
}

// recall takes a request that is sent again for what became of it, and reports whether it
// is remembered.
func (rq requests) recall(r resource.Request) bool {
	i := slices.IndexFunc(rq.d.rec.Ended, func(e EndedRequest) bool { return e.ID == r.ID })
	if i < 0 {
		return false
	}
	e := rq.d.rec.Ended[i]
	rq.d.rec.Requests = append(rq.d.rec.Requests, RequestState{Request: r, AcceptedAt: e.At, Outcome: e.Outcome, EndedAt: e.At, Reason: e.Reason})
	rq.d.rec.Ended = slices.Delete(slices.Clone(rq.d.rec.Ended), i, i+1)
	rq.d.dirty = true
	return true
}

// take accepts new one-shots, and remembers of ended ones that the hub no longer
// sends only how they ended.
func (rq requests) take() {
	sent := map[string]bool{}
	for i, r := range slices.Concat(rq.s.Requests, rq.s.Asked) {
		sent[r.ID] = true
		if at := slices.IndexFunc(rq.d.rec.Requests, func(s RequestState) bool { return s.ID == r.ID }); at >= 0 {
			if s := &rq.d.rec.Requests[at]; s.Cancelled == "" && r.Cancelled != "" {
				s.Cancelled, rq.d.dirty = r.Cancelled, true
			}
			continue
		}
		if rq.recall(r) {
			continue
		}
		if s, ok := rq.accept(r, i >= len(rq.s.Requests)); ok {
			rq.d.rec.Requests = append(rq.d.rec.Requests, s)
			rq.d.dirty = true
		} else {
			rq.d.raise(resource.CondAwaitingHub, "request %s: %s", r.ID, r.Action)
		}
	}
	rq.remember(sent)
}

// accept decides once what becomes of a request; false is not yet. What would switch a frozen server on is refused.
func (rq requests) accept(r resource.Request, local bool) (RequestState, bool) {
	s := rq.judge(r, local)
	if rq.d.ice && s.Outcome == resource.OutcomePending && r.Action != resource.RequestPowerOff {
		s.Outcome, s.Reason = resource.OutcomeRefused, rq.s.Frozen.Text()
	}
	return s, rq.taken(&s)
}

// judge says what becomes of a request by all but a freeze.
func (rq requests) judge(r resource.Request, local bool) RequestState {
	s := RequestState{Request: r, AcceptedAt: rq.d.now, Local: local}
	in := rq.s.Intent
	if in != nil {
		s.OwnerUID = in.Owner.UID
	}
	pre := (r.Precondition.Power == "" || r.Precondition.Power == rq.d.watch.Last.Power) &&
		(r.Precondition.OwnerUID == "" || in != nil && r.Precondition.OwnerUID == in.Owner.UID)
	a := rq.d.rec.Attempt
	network := a.Open() && a.Network()
	t := hourUnknown
	switch now := rq.clockOf(&s); {
	case now.IsZero():
	case now.Before(r.NotAfter):
		t = hourAhead
	default:
		t = hourPassed
	}
	if r.Cancelled != "" && !foreign(r.Incarnation, rq.s.Incarnation) {
		s.Outcome, s.Reason = resource.OutcomeCancelled, takenBack
		return s
	}
	claim := claimWants(wanted(rq.s.Intent))
	if in != nil && in.Releasing {
		claim = claimEnds
	}
	if r.Action == resource.RequestResume {
		s.Outcome, s.Reason = resumeRule(foreign(r.Incarnation, rq.s.Incarnation), t, pre, claim, len(rq.d.holds) > 0, rq.s.takenOver(), rq.resumable(), r.Retry)
		return s
	}
	if rq.keeps() && r.Action == resource.RequestReboot {
		s.Restart = true
		s.Outcome, s.Reason = resumeRule(foreign(r.Incarnation, rq.s.Incarnation), t, pre, claim, len(rq.d.holds) > 0, rq.s.takenOver(), rq.restartable(r.Mode), false)
		return s
	}
	s.Outcome, s.Reason = acceptRule(foreign(r.Incarnation, rq.s.Incarnation), t, r.Action, pre, claim, network, r.AnyPhase, rq.s.takenOver())
	if rq.keeps() && s.Outcome == resource.OutcomePending {
		s.Outcome, s.Reason = resource.OutcomeRefused, isKept
	}
	return s
}

// keeps says whether the server is never powered off by a request.
func (rq requests) keeps() bool { return rq.s.Intent != nil && rq.s.Intent.DisablePowerOff }

const isKept = "spec.disablePowerOff of the server forbids it"

// taken ends a request that was not accepted; false is that it is looked at again.
func (rq requests) taken(s *RequestState) bool {
	switch s.Outcome {
	case outcomeWaits:
		return false
	case resource.OutcomePending:
		if s.Action == resource.RequestResume {
			rq.d.happened(resource.EventResumed, "%s resumes it: %s", s.By, s.Why)
		}
	default:
		rq.end(s, s.Outcome, s.Reason)
	}
	return true
}

// clockOf is the time by the clock that a request's notAfter is of; zero if the hub's is
// not known.
func (rq requests) clockOf(s *RequestState) time.Time {
	if s.Local {
		return rq.d.now
	}
	return rq.s.HubTime
}

// asked says what pending requests still ask of the server's power, and how: a
// stop until it was read Off. The mode is hard if any of them is.
func (rq requests) asked() (a asked, mode resource.StopMode) {
	a, mode = askedNothing, resource.StopSoft
	for _, s := range rq.d.rec.Requests {
		if s.Outcome != resource.OutcomePending || !s.StoppedAt.IsZero() {
			continue
		}
		if s.resumes() {
			if !rq.stopsFirst(&s) {
				continue
			}
			mode = resource.StopHard // nothing that was ordered runs
		}
		if s.Action == resource.RequestPowerOff {
			a = askedOff
		} else if a == askedNothing {
			a = askedReboot
		}
		if s.Mode == resource.StopHard {
			mode = resource.StopHard
		}
	}
	return a, mode
}
