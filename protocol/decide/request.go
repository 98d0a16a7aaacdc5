package decide

import (
	"slices"
	"time"

	"rackboot/protocol/resource"
)

// requestLimit bounds how long an accepted request may take before its outcome
// is called unknown.
const requestLimit = time.Hour

// requests accepts new one-shots, and remembers of ended ones that the hub no longer
// sends only how they ended.
func (p *step) requests() {
	sent := map[string]bool{}
	for i, r := range slices.Concat(p.snap.Requests, p.snap.Asked) {
		sent[r.ID] = true
		if slices.ContainsFunc(p.rec.Requests, func(s RequestState) bool { return s.ID == r.ID }) {
			continue
		}
		if p.recall(r) {
			continue
		}
		if s, ok := p.accept(r, i >= len(p.snap.Requests)); ok {
			p.rec.Requests = append(p.rec.Requests, s)
			p.dirty = true
		} else {
			p.raise(resource.CondAwaitingHub, "request %s: %s", r.ID, r.Action)
		}
	}
	p.remember(sent)
}

// hour is what is known of a request's time, by the hub's clock.
type hour string

const (
	hourUnknown hour = "unknown" // the hub was not heard since the agent started
	hourAhead   hour = "ahead"   // of notAfter
	hourPassed  hour = "passed"
)

// outcomeWaits is no outcome yet: the request is looked at again.
const outcomeWaits resource.Outcome = "waits"

// accept decides once what becomes of a request; false is not yet.
func (p *step) accept(r resource.Request, local bool) (RequestState, bool) {
	s := RequestState{Request: r, AcceptedAt: p.now, Local: local}
	in := p.snap.Intent
	if in != nil {
		s.OwnerUID = in.Owner.UID
	}
	pre := (r.Precondition.Power == "" || r.Precondition.Power == p.watch.Last.Power) &&
		(r.Precondition.OwnerUID == "" || in != nil && r.Precondition.OwnerUID == in.Owner.UID)
	a := p.rec.Attempt
	network := a.Open() && a.Network()
	t := hourUnknown
	switch now := p.clockOf(&s); {
	case now.IsZero():
	case now.Before(r.NotAfter):
		t = hourAhead
	default:
		t = hourPassed
	}
	claim := claimWants(p.wanted())
	if in != nil && in.Releasing {
		claim = claimEnds
	}
	if r.Action == resource.RequestResume {
		s.Outcome, s.Reason = resumeRule(p.snap.foreign(r.Incarnation), t, pre, claim, len(p.snap.Holds) > 0, p.resumable(), r.Retry)
		return s, p.taken(&s)
	}
	s.Outcome, s.Reason = acceptRule(p.snap.foreign(r.Incarnation), t, r.Action, pre, claim, network, r.AnyPhase)
	return s, p.taken(&s)
}

// taken ends a request that was not accepted; false is that it is looked at again.
func (p *step) taken(s *RequestState) bool {
	switch s.Outcome {
	case outcomeWaits:
		return false
	case resource.OutcomePending:
		if s.Action == resource.RequestResume {
			p.happened(resource.EventResumed, "%s resumes it: %s", s.By, s.Why)
		}
	default:
		p.end(s, s.Outcome, s.Reason)
	}
	return true
}

// clockOf is the time by the clock that a request's notAfter is of; zero if the hub's is
// not known.
func (p *step) clockOf(s *RequestState) time.Time {
	if s.Local {
		return p.now
	}
	return p.snap.HubTime
}

// wanted is the power that a claim wants; none without one, or at its end.
func (p *step) wanted() resource.Power {
	if in := p.snap.Intent; in != nil && !in.Releasing {
		return in.Power
	}
	return ""
}

// claimed is what a server's claim says to a one-shot.
type claimed string

const (
	claimAbsent claimed = "none"
	claimOn     claimed = "On"
	claimOff    claimed = "Off"
	claimEnds   claimed = "ends" // or the request was accepted under one that is gone
)

func claimWants(want resource.Power) claimed {
	switch want {
	case resource.WantOn:
		return claimOn
	case resource.WantOff:
		return claimOff
	}
	return claimAbsent
}

// acceptRule is the table of one-shots. The first row that fits decides.
//
//	given   | hub     | action    | pre | claim | boot    | any | outcome
//	foreign | *       | *         | *   | *     | *       | *   | unknown
//	own     | unknown | *         | *   | *     | *       | *   | waits
//	own     | passed  | *         | *   | *     | *       | *   | expired
//	own     | ahead   | other     | *   | *     | *       | *   | refused
//	own     | ahead   | *         | no  | *     | *       | *   | refused
//	own     | ahead   | *         | yes | ends  | *       | *   | refused
//	own     | ahead   | power-off | yes | On    | *       | *   | refused
//	own     | ahead   | power-off | yes | *     | *       | *   | pending
//	own     | ahead   | reboot    | yes | none  | *       | no  | refused
//	own     | ahead   | reboot    | yes | On    | network | no  | refused
//	own     | ahead   | reboot    | yes | *     | *       | *   | pending
//
// A request that was given to an earlier incarnation may have been done by it
// (P9). Until the hub was heard, the agent's disk may be an old copy, and nobody
// knows what time it is. any is anyPhase: it lets a reboot stop a server without a
// claim, and end a first boot. Holds and firmware work are no reason to refuse: the
// request waits behind them.
func acceptRule(foreign bool, t hour, action resource.RequestAction, pre bool, claim claimed, network, anyPhase bool) (resource.Outcome, string) {
	reboot, off := action == resource.RequestReboot, action == resource.RequestPowerOff
	switch {
	case foreign:
		return resource.OutcomeUnknown, givenToEarlier
	case t == hourUnknown:
		return outcomeWaits, ""
	case t == hourPassed:
		return resource.OutcomeExpired, notBegun
	case !reboot && !off:
		return resource.OutcomeRefused, "unknown action"
	case !pre:
		return resource.OutcomeRefused, "its precondition does not hold"
	case claim == claimEnds:
		return resource.OutcomeRefused, endsWithClaim
	case off && claim == claimOn:
		return resource.OutcomeRefused, wantsOn
	case off:
		return resource.OutcomePending, ""
	case claim == claimAbsent && !anyPhase:
		return resource.OutcomeRefused, "the server has no claim, so nothing says what it boots; anyPhase stops it all the same"
	case claim == claimOn && network && !anyPhase:
		return resource.OutcomeRefused, "a first boot is under way; anyPhase ends it"
	}
	return resource.OutcomePending, ""
}

const (
	notBegun       = "its notAfter passed before it was begun"
	givenToEarlier = "was given to an earlier disk of this agent"
	wantsOn        = "its claim wants the server On: change the claim's power"
	endsWithClaim  = "the claim ends"
)

// asked says what pending requests still ask of the server's power, and how: a
// stop until it was read Off. The mode is hard if any of them is.
func (p *step) asked() (a asked, mode resource.StopMode) {
	a, mode = askedNothing, resource.StopSoft
	for _, s := range p.rec.Requests {
		if s.Outcome != resource.OutcomePending || !s.StoppedAt.IsZero() {
			continue
		}
		if s.Action == resource.RequestResume {
			if !p.stopsFirst(&s) {
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
