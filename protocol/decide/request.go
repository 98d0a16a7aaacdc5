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
		if !slices.ContainsFunc(p.rec.Requests, func(s RequestState) bool { return s.ID == r.ID }) {
			p.rec.Requests = append(p.rec.Requests, p.accept(r))
			p.dirty = true
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

// accept decides once what becomes of a request.
//
//	notAfter | action | pre  | claim | boot    | outcome
//	passed   | *      | *    | *     | *       | expired
//	ahead    | other  | *    | *     | *       | refused
//	ahead    | reboot | no   | *     | *       | refused
//	ahead    | reboot | yes  | none  | *       | refused
//	ahead    | reboot | yes  | Off   | *       | refused
//	ahead    | reboot | yes  | On    | network | refused
//	ahead    | reboot | yes  | On    | other   | pending
func (p *step) accept(r protocol.Request) RequestState {
	s := RequestState{Request: r, AcceptedAt: p.now}
	in := p.snap.Intent
	want := protocol.Power("")
	if in != nil && !in.Releasing {
		want = in.Power
	}
	pre := (r.Precondition.Power == "" || r.Precondition.Power == p.watch.Last.Power) &&
		(r.Precondition.ClaimUID == "" || in != nil && r.Precondition.ClaimUID == in.ClaimUID)
	a := p.rec.Attempt
	network := a.Open() && a.Network()
	s.Outcome, s.Reason = acceptRule(p.now.Before(r.NotAfter), r.Action == protocol.RequestReboot, pre, want, network)
	if s.Outcome == protocol.OutcomePending {
		p.rec.PendingRebootSince = p.now
		return s
	}
	p.end(&s, s.Outcome, s.Reason)
	return s
}

func acceptRule(ahead, reboot, pre bool, want protocol.Power, network bool) (protocol.Outcome, string) {
	switch {
	case !ahead:
		return protocol.OutcomeExpired, "its notAfter passed before it was begun"
	case !reboot:
		return protocol.OutcomeRefused, "unknown action"
	case !pre:
		return protocol.OutcomeRefused, "its precondition does not hold"
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

// rebooting says whether a request still waits for the server to be read Off.
// The mode is hard if any of them is.
func (p *step) rebooting() (bool, protocol.StopMode) {
	wait, mode := false, protocol.StopSoft
	for _, s := range p.rec.Requests {
		if s.Outcome == protocol.OutcomePending && s.StoppedAt.IsZero() {
			wait = true
			if s.Mode == protocol.StopHard {
				mode = protocol.StopHard
			}
		}
	}
	return wait, mode
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
		switch {
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

func (p *step) end(s *RequestState, outcome protocol.Outcome, reason string) {
	s.Outcome, s.Reason, s.EndedAt = outcome, reason, p.now
	p.dirty = true
	p.happened(protocol.EventRequestEnded, "%s %s: %s %s", s.Action, s.ID, outcome, reason)
}
