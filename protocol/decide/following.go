package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// follow moves accepted requests along by what was read.
func (rq requests) follow() {
	o, held := rq.d.watch.Last, len(rq.d.holds) > 0
	idle := false // one ended and has stopped nothing
	away := false // one ended whose stop nobody goes on with
	for i := range rq.d.rec.Requests {
		s := &rq.d.rec.Requests[i]
		if s.Outcome != resource.OutcomePending {
			continue
		}
		rq.queue(s, held || rq.d.work || inrush(rq).waited())
		if o.Power == protocol.PowerOff && o.StartedAt.After(s.AcceptedAt) && !rq.d.awaitQuiet() {
			switch {
			case s.StoppedAt.IsZero():
				s.StoppedAt, s.Epoch = o.ReadAt, rq.d.rec.Shown.Epoch
				rq.d.dirty = true
			case held && s.Epoch != rq.d.rec.Shown.Epoch: // it ran under the hold
				s.Epoch, rq.d.dirty = rq.d.rec.Shown.Epoch, true
			}
		}
		late := rq.tardy(s)
		var outcome resource.Outcome
		var reason string
		if s.resumes() {
			if outcome, reason = rq.followResume(s); outcome != resource.OutcomePending {
				rq.end(s, outcome, reason)
			}
			continue
		}
		outcome, reason = followRule(s.Action, claimOf(s, rq.s.Intent), held, !s.StoppedAt.IsZero(), rq.cancels(s), late, rq.ran(s), rq.limit(s))
		if outcome == resource.OutcomePending {
			continue
		}
		idle = idle || s.StoppedAt.IsZero()
		rq.end(s, outcome, reason)
		away = away || late == tardyAway && outcome == resource.OutcomeUnknown
	}
	if away {
		rq.stops().end() // not before: it is what says that something was sent for the others too
	}
	if asked, _ := rq.asked(); idle && !held && asked == askedNothing {
		rq.d.withdraw()
	}
}

// queue notes whether a request waits behind holds, firmware work or other servers that are switched on.
func (rq requests) queue(s *RequestState, behind bool) {
	if s.Behind == behind {
		return
	}
	if s.Behind = behind; !behind {
		s.From = rq.d.now
	}
	rq.d.dirty = true
}

// cancels says whether somebody takes a request back for which nothing was sent: what stops the
// server goes on where it is for a hold.
func (rq requests) cancels(s *RequestState) bool {
	begun := rq.d.rec.Stop != nil || !s.StoppedAt.IsZero()
	return s.Cancelled != "" && (len(rq.d.holds) > 0 || !begun)
}

// tardy says whether a request that was accepted in time was not begun in time by
// this run of the agent: it was away, or something stood before it. A stop of an
// earlier run may have been sent or not; it is not sent hours later. Nor is a stop that
// was begun for a hold, after the request's notAfter, gone on with for the request.
func (rq requests) tardy(s *RequestState) tardy {
	hub := rq.clockOf(s)
	switch {
	case rq.d.watch.Last.Power == "", hub.IsZero(), hub.Before(s.NotAfter):
		return tardyNo
	case rq.d.rec.Stop == nil && rq.d.watch.Stopping:
		return tardyNo
	case rq.d.rec.Stop == nil:
		return tardyUnsent
	case !rq.d.watch.Stopping:
		return tardyAway
	case hub.Add(-rq.d.now.Sub(rq.d.rec.Stop.Since)).Before(s.NotAfter):
		return tardyNo
	}
	return tardyUnsent
}

// ran says how the server runs since it was stopped for a request. One that is being
// stopped again does not run yet.
func (rq requests) ran(s *RequestState) ran {
	u := rq.d.rec.Unexpected
	switch {
	case s.StoppedAt.IsZero(), rq.d.watch.Last.Power != protocol.PowerOn, rq.d.rec.Shown.Epoch <= s.Epoch, rq.d.rec.Stop != nil:
		return ranNot
	case u != nil && u.To == protocol.PowerOn:
		return ranOther
	}
	return ranOurs
}

// limit says whether a request has had its time.
func (rq requests) limit(s *RequestState) bool {
	from := s.AcceptedAt
	if s.From.After(from) {
		from = s.From
	}
	return !s.Behind && rq.d.now.Sub(from) > requestLimit
}

func (rq requests) end(s *RequestState, outcome resource.Outcome, reason string) {
	e := s.end(rq.d.now, outcome, reason)
	rq.d.dirty = true
	rq.d.happened(e.Code, "%s", e.Message)
}

// followResume applies resumeFollow.
func (rq requests) followResume(s *RequestState) (resource.Outcome, string) {
	late := false
	if now := rq.clockOf(s); !now.IsZero() && !rq.d.watch.Stopping && rq.d.watch.Last.Power != "" {
		late = !now.Before(s.NotAfter)
	}
	return resumeFollow(rq.resumedOf(s), claimOf(s, rq.s.Intent), len(rq.d.holds) > 0, s.Cancelled != "", late && s.StoppedAt.IsZero(), rq.limit(s))
}
