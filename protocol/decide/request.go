package decide

import (
	"slices"
	"time"

	"rackboot/protocol"
)

// requestLimit bounds how long an accepted request may take before its outcome
// is called unknown.
const requestLimit = time.Hour

// requests accepts new one-shots and drops ended ones that the hub no longer
// sends.
func (p *step) requests() {
	sent := map[string]bool{}
	for _, r := range p.snap.Requests {
		sent[r.ID] = true
		if slices.ContainsFunc(p.rec.Requests, func(s RequestState) bool { return s.ID == r.ID }) {
			continue
		}
		if s, ok := p.accept(r); ok {
			p.rec.Requests = append(p.rec.Requests, s)
			p.dirty = true
		} else {
			p.raise(protocol.CondAwaitingHub, "request %s: %s", r.ID, r.Action)
		}
	}
	n := len(p.rec.Requests)
	p.rec.Requests = slices.DeleteFunc(p.rec.Requests, func(s RequestState) bool {
		return s.Outcome != protocol.OutcomePending && !sent[s.ID]
	})
	if len(p.rec.Requests) != n {
		p.dirty = true
	}
}

// hour is what is known of a request's time, by the hub's clock.
type hour string

const (
	hourUnknown hour = "unknown" // the hub was not heard since the agent started
	hourAhead   hour = "ahead"   // of notAfter
	hourPassed  hour = "passed"
)

// outcomeWaits is no outcome yet: the request is looked at again.
const outcomeWaits protocol.Outcome = "waits"

// accept decides once what becomes of a request; false is not yet.
func (p *step) accept(r protocol.Request) (RequestState, bool) {
	s := RequestState{Request: r, AcceptedAt: p.now}
	in := p.snap.Intent
	pre := (r.Precondition.Power == "" || r.Precondition.Power == p.watch.Last.Power) &&
		(r.Precondition.ClaimUID == "" || in != nil && r.Precondition.ClaimUID == in.ClaimUID)
	a := p.rec.Attempt
	network := a.Open() && a.Network()
	t := hourUnknown
	switch hub := p.snap.HubTime; {
	case hub.IsZero():
	case hub.Before(r.NotAfter):
		t = hourAhead
	default:
		t = hourPassed
	}
	s.Outcome, s.Reason = acceptRule(p.snap.foreign(r.Incarnation), t, r.Action, pre, p.wanted(), network)
	switch s.Outcome {
	case outcomeWaits:
		return s, false
	case protocol.OutcomePending:
		p.rec.PendingRebootSince = p.now
	default:
		p.end(&s, s.Outcome, s.Reason)
	}
	return s, true
}

// wanted is the power that a claim wants; none without one, or at its end.
func (p *step) wanted() protocol.Power {
	if in := p.snap.Intent; in != nil && !in.Releasing {
		return in.Power
	}
	return ""
}

// acceptRule is the table of one-shots. The first row that fits decides.
//
//	given   | hub     | action    | pre | claim | boot    | outcome
//	foreign | *       | *         | *   | *     | *       | unknown
//	own     | unknown | *         | *   | *     | *       | waits
//	own     | passed  | *         | *   | *     | *       | expired
//	own     | ahead   | other     | *   | *     | *       | refused
//	own     | ahead   | *         | no  | *     | *       | refused
//	own     | ahead   | reboot    | yes | none  | *       | refused
//	own     | ahead   | reboot    | yes | Off   | *       | refused
//	own     | ahead   | reboot    | yes | On    | network | refused
//	own     | ahead   | reboot    | yes | On    | other   | pending
//	own     | ahead   | power-off | yes | On    | *       | refused
//	own     | ahead   | power-off | yes | *     | *       | pending
//
// A request that was given to an earlier incarnation may have been done by it
// (P9). Until the hub was heard, the agent's disk may be an old copy, and nobody
// knows what time it is.
func acceptRule(foreign bool, t hour, action protocol.RequestAction, pre bool, want protocol.Power, network bool) (protocol.Outcome, string) {
	reboot, off := action == protocol.RequestReboot, action == protocol.RequestPowerOff
	switch {
	case foreign:
		return protocol.OutcomeUnknown, givenToEarlier
	case t == hourUnknown:
		return outcomeWaits, ""
	case t == hourPassed:
		return protocol.OutcomeExpired, notBegun
	case !reboot && !off:
		return protocol.OutcomeRefused, "unknown action"
	case !pre:
		return protocol.OutcomeRefused, "its precondition does not hold"
	case off && want == protocol.WantOn:
		return protocol.OutcomeRefused, wantsOn
	case off:
		return protocol.OutcomePending, ""
	case want == "":
		return protocol.OutcomeRefused, "the server has no claim, so nothing says what it boots"
	case want == protocol.WantOff:
		return protocol.OutcomeRefused, "its claim wants the server Off"
	case network:
		return protocol.OutcomeRefused, "a first boot is under way"
	default:
		return protocol.OutcomePending, ""
	}
}

const (
	notBegun       = "its notAfter passed before it was begun"
	givenToEarlier = "was given to an earlier disk of this agent"
	wantsOn        = "its claim wants the server On: change the claim's power"
)

// asked says what pending requests still ask of the server's power, and how: a
// stop until it was read Off. The mode is hard if any of them is.
func (p *step) asked() (a asked, mode protocol.StopMode) {
	a, mode = askedNothing, protocol.StopSoft
	for _, s := range p.rec.Requests {
		if s.Outcome != protocol.OutcomePending || !s.StoppedAt.IsZero() {
			continue
		}
		if s.Action == protocol.RequestPowerOff {
			a = askedOff
		} else if a == askedNothing {
			a = askedReboot
		}
		if s.Mode == protocol.StopHard {
			mode = protocol.StopHard
		}
	}
	return a, mode
}

// follow moves accepted requests along by what was read.
func (p *step) follow() {
	o := p.watch.Last
	for i := range p.rec.Requests {
		s := &p.rec.Requests[i]
		if s.Outcome != protocol.OutcomePending {
			continue
		}
		if s.StoppedAt.IsZero() && o.Power == protocol.PowerOff && o.StartedAt.After(s.AcceptedAt) && !p.awaitQuiet() {
			s.StoppedAt, s.Epoch = o.ReadAt, p.rec.Epoch
			p.dirty = true
		}
		off := s.Action == protocol.RequestPowerOff
		switch {
		case s.StoppedAt.IsZero() && !p.watch.Stopping && p.passed(s.NotAfter) && o.Power != "":
			p.late(s)
		case off && !s.StoppedAt.IsZero():
			p.end(s, protocol.OutcomeDone, "")
		case off && p.wanted() == protocol.WantOn && len(p.snap.Holds) == 0:
			p.end(s, protocol.OutcomeRefused, wantsOn) // since it was accepted
		case !s.StoppedAt.IsZero() && o.Power == protocol.PowerOn && p.rec.Epoch > s.Epoch:
			if u := p.rec.Unexpected; u != nil && u.To == protocol.PowerOn {
				// Not by our On, so nobody knows what it boots; an operator resumes it.
				p.end(s, protocol.OutcomeUnknown, "something else powered the server on")
				break
			}
			p.end(s, protocol.OutcomeDone, "")
		case p.now.Sub(s.AcceptedAt) > requestLimit && len(p.snap.Holds) == 0:
			p.end(s, protocol.OutcomeUnknown, "it did not end within "+requestLimit.String())
		}
	}
}

// passed says whether the hub's clock is known to be there.
func (p *step) passed(t time.Time) bool {
	hub := p.snap.HubTime
	return !hub.IsZero() && !hub.Before(t)
}

// late ends a request that was accepted in time and for which this run of the agent
// has sent nothing: the agent was away, or something stood before it. A stop of an
// earlier run may have been sent or not; it is not sent hours later.
func (p *step) late(s *RequestState) {
	if p.rec.Stop == nil {
		p.end(s, protocol.OutcomeExpired, notBegun)
		return
	}
	p.end(s, protocol.OutcomeUnknown, "the agent was away while the server was stopped")
	p.endStop()
}

func (p *step) end(s *RequestState, outcome protocol.Outcome, reason string) {
	e := s.end(p.now, outcome, reason)
	p.dirty = true
	p.happened(e.Code, "%s", e.Message)
}
