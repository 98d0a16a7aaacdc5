package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// tardy is whether a request was not begun before its notAfter.
type tardy string

const (
	tardyNo     tardy = "no"
	tardyUnsent tardy = "unsent" // nothing was sent for it
	tardyAway   tardy = "away"   // an earlier run of the agent may have sent something
)

// ran is how a server that was stopped for a request runs again.
type ran string

const (
	ranNot   ran = "no"
	ranOurs  ran = "ours" // by our On
	ranOther ran = "other"
)

// followRule says what has become of an accepted request. The first row that fits
// decides.
//
//	action    | claim | held | stopped | late   | runs  | limit | outcome
//	power-off | *     | *    | yes     | *      | *     | *     | done
//	*         | ends  | *    | *       | *      | *     | *     | refused
//	*         | *     | *    | no      | unsent | *     | *     | expired
//	*         | *     | *    | no      | away   | *     | *     | unknown
//	power-off | On    | no   | no      | *      | *     | *     | refused
//	reboot    | Off   | *    | yes     | *      | *     | *     | done
//	reboot    | none  | *    | yes     | *      | *     | *     | done
//	reboot    | On    | no   | yes     | *      | other | *     | unknown
//	reboot    | On    | no   | yes     | *      | ours  | *     | done
//	*         | *     | *    | *       | *      | *     | yes   | unknown
//	*         | *     | *    | *       | *      | *     | *     | pending
//
// stopped is that the server was read Off, by a read that was begun after the
// request was accepted: all requests that were accepted before that read end with
// one power cycle, whoever else caused the Off. A hold comes first: under it nothing
// is restored, and limit, which is requestLimit, does not run. What cannot be
// restored because no claim wants it is said so, and not silently (baremetal-operator
// deletes the annotation).
func followRule(action resource.RequestAction, claim claimed, held, stopped bool, late tardy, r ran, limit bool) (resource.Outcome, string) {
	off := action == resource.RequestPowerOff
	switch {
	case off && stopped:
		return resource.OutcomeDone, ""
	case claim == claimEnds:
		return resource.OutcomeRefused, endsWithClaim
	case !stopped && late == tardyUnsent:
		return resource.OutcomeExpired, notBegun
	case !stopped && late == tardyAway:
		return resource.OutcomeUnknown, "the agent was away while the server was stopped"
	case off && claim == claimOn && !held:
		return resource.OutcomeRefused, wantsOn // since it was accepted
	case !off && stopped && claim == claimOff:
		return resource.OutcomeDone, "not restored: its claim wants it Off"
	case !off && stopped && claim == claimAbsent:
		return resource.OutcomeDone, "not restored: no claim says what it boots"
	case !off && stopped && !held && r == ranOther:
		// Nobody knows what it boots; an operator resumes it.
		return resource.OutcomeUnknown, "something else powered the server on"
	case !off && stopped && !held && r == ranOurs:
		return resource.OutcomeDone, ""
	case limit:
		return resource.OutcomeUnknown, "it did not end within " + requestLimit.String()
	}
	return resource.OutcomePending, ""
}

// follow moves accepted requests along by what was read.
func (p *step) follow() {
	o, held := p.watch.Last, len(p.snap.Holds) > 0
	idle := false // one ended and has stopped nothing
	away := false // one ended whose stop nobody goes on with
	for i := range p.rec.Requests {
		s := &p.rec.Requests[i]
		if s.Outcome != resource.OutcomePending {
			continue
		}
		p.queue(s, held || p.work)
		if o.Power == protocol.PowerOff && o.StartedAt.After(s.AcceptedAt) && !p.awaitQuiet() {
			switch {
			case s.StoppedAt.IsZero():
				s.StoppedAt, s.Epoch = o.ReadAt, p.rec.Epoch
				p.dirty = true
			case held && s.Epoch != p.rec.Epoch: // it ran under the hold
				s.Epoch, p.dirty = p.rec.Epoch, true
			}
		}
		late := p.tardy(s)
		var outcome resource.Outcome
		var reason string
		if s.Action == resource.RequestResume {
			if outcome, reason = p.followResume(s); outcome != resource.OutcomePending {
				p.end(s, outcome, reason)
			}
			continue
		}
		outcome, reason = followRule(s.Action, p.claimOf(s), held, !s.StoppedAt.IsZero(), late, p.ran(s), p.limit(s))
		if outcome == resource.OutcomePending {
			continue
		}
		idle = idle || s.StoppedAt.IsZero()
		p.end(s, outcome, reason)
		away = away || late == tardyAway && outcome == resource.OutcomeUnknown
	}
	if away {
		p.endStop() // not before: it is what says that something was sent for the others too
	}
	if asked, _ := p.asked(); idle && !held && asked == askedNothing {
		p.withdraw()
	}
}

// queue notes whether a request waits behind holds or firmware work.
func (p *step) queue(s *RequestState, behind bool) {
	if s.Behind == behind {
		return
	}
	if s.Behind = behind; !behind {
		s.From = p.now
	}
	p.dirty = true
}

// claimOf is what the claim says to a request that was accepted.
func (p *step) claimOf(s *RequestState) claimed {
	in := p.snap.Intent
	if in != nil && s.OwnerUID != "" && (in.Releasing || in.Owner.UID != s.OwnerUID) {
		return claimEnds
	}
	return claimWants(p.wanted())
}

// tardy says whether a request that was accepted in time was not begun in time by
// this run of the agent: it was away, or something stood before it. A stop of an
// earlier run may have been sent or not; it is not sent hours later. Nor is a stop that
// was begun for a hold, after the request's notAfter, gone on with for the request.
func (p *step) tardy(s *RequestState) tardy {
	hub := p.clockOf(s)
	switch {
	case p.watch.Last.Power == "", hub.IsZero(), hub.Before(s.NotAfter):
		return tardyNo
	case p.rec.Stop == nil && p.watch.Stopping:
		return tardyNo
	case p.rec.Stop == nil:
		return tardyUnsent
	case !p.watch.Stopping:
		return tardyAway
	case hub.Add(-p.now.Sub(p.rec.Stop.Since)).Before(s.NotAfter):
		return tardyNo
	}
	return tardyUnsent
}

// ran says how the server runs since it was stopped for a request. One that is being
// stopped again does not run yet.
func (p *step) ran(s *RequestState) ran {
	u := p.rec.Unexpected
	switch {
	case s.StoppedAt.IsZero(), p.watch.Last.Power != protocol.PowerOn, p.rec.Epoch <= s.Epoch, p.rec.Stop != nil:
		return ranNot
	case u != nil && u.To == protocol.PowerOn:
		return ranOther
	}
	return ranOurs
}

// limit says whether a request has had its time.
func (p *step) limit(s *RequestState) bool {
	from := s.AcceptedAt
	if s.From.After(from) {
		from = s.From
	}
	return !s.Behind && p.now.Sub(from) > requestLimit
}

func (p *step) end(s *RequestState, outcome resource.Outcome, reason string) {
	e := s.end(p.now, outcome, reason)
	p.dirty = true
	p.happened(e.Code, "%s", e.Message)
}
