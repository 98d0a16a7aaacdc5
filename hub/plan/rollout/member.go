package rollout

import (
	"time"

	"rackboot/protocol/resource"
)

// sight is what was seen of a server since it came to its state.
type sight string

const (
	sawTarget  sight = "target"  // it booted the revision
	sawAgain   sight = "again"   // it booted the revision once more while it soaked
	sawFailure sight = "failure" // an attempt with the revision failed
	sawOther   sight = "other"   // nothing, or another image
)

var sights = []sight{sawTarget, sawAgain, sawFailure, sawOther}

// clock is whether the time of a state has passed: for Begun that by which it must be
// seen, for Soaking that of the soak, or of being seen if it boots again and again.
type clock string

const (
	timeLeft clock = "left"
	timeOver clock = "over"
)

// memberRule is the next state of a member. Failed and Done last: a server that turns
// people off it later is no news of the roll-out, and what failed counts until somebody
// resumes. Who boots the revision without an order soaks too. Of a server that is away
// nothing is concluded; one that soaked comes back to boot the revision, or is begun anew.
//
//	state     | seen    | place | time | next
//	Done      | *       | *     | *    | Done
//	Failed    | *       | *     | *    | Failed
//	Returning | *       | *     | *    | Returning
//	Returned  | *       | *     | *    | Returned
//	*         | *       | gone  | *    | Skipped
//	Skipped   | *       | *     | *    | Waiting
//	*         | failure | *     | *    | Failed
//	Waiting   | target  | up    | *    | Soaking
//	Waiting   | *       | *     | *    | Waiting
//	Begun     | *       | away  | *    | Begun
//	Begun     | *       | *     | over | Failed
//	Begun     | target  | up    | left | Soaking
//	Begun     | *       | *     | left | Begun
//	Soaking   | *       | away  | *    | Waiting
//	Soaking   | target  | up    | over | Done
//	Soaking   | target  | up    | left | Soaking
//	Soaking   | again   | up    | left | Soaking
//	Soaking   | *       | *     | *    | Failed
func memberRule(state resource.MemberState, seen sight, at place, t clock) resource.MemberState {
	switch state {
	case resource.MemberDone, resource.MemberFailed, resource.MemberReturning, resource.MemberReturned:
		return state
	case resource.MemberWaiting, resource.MemberBegun, resource.MemberSoaking, resource.MemberSkipped:
	}
	switch {
	case at == isGone:
		return resource.MemberSkipped
	case state == resource.MemberSkipped:
		return resource.MemberWaiting
	case seen == sawFailure:
		return resource.MemberFailed
	case state == resource.MemberWaiting:
		if seen == sawTarget && at == isUp {
			return resource.MemberSoaking
		}
		return state
	case state == resource.MemberBegun:
		return begunRule(seen, at, t)
	case at == isAway:
		return resource.MemberWaiting
	case seen == sawTarget && at == isUp && t == timeOver:
		return resource.MemberDone
	case (seen == sawTarget || seen == sawAgain) && at == isUp && t == timeLeft:
		return state
	}
	return resource.MemberFailed
}

func begunRule(seen sight, at place, t clock) resource.MemberState {
	switch {
	case at == isAway:
		return resource.MemberBegun
	case t == timeOver:
		return resource.MemberFailed
	case seen == sawTarget && at == isUp:
		return resource.MemberSoaking
	}
	return resource.MemberBegun
}

// see is what was seen of a member's server.
func see(m resource.RolloutMember, s Server) sight {
	since := m.Since
	if m.State == resource.MemberBegun && m.BegunAt != nil {
		since = *m.BegunAt
	}
	booted := s.Boots == s.Target
	switch {
	case s.Failed != "" && s.FailedAt.After(since) && (!booted || !s.BootedAt.After(s.FailedAt)):
		return sawFailure
	case !booted:
		return sawOther
	case m.State == resource.MemberSoaking && s.BootedAt.After(since):
		return sawAgain
	case m.State == resource.MemberBegun && !s.BootedAt.After(since):
		return sawOther // that was before it was begun
	}
	return sawTarget
}

// clockOf is whether a member's time has passed, and when it does; zero is never.
func (r *run) clockOf(m resource.RolloutMember, s Server, seen sight) (clock, time.Time) {
	var end time.Time
	now := r.in.Now
	switch {
	case m.State == resource.MemberSoaking && seen == sawTarget:
		end = m.Since.Add(r.in.Spec.Soak.D())
		if now.Before(end) {
			return timeLeft, end
		}
		return timeOver, end
	case m.DueAt == nil:
		return timeLeft, end
	case m.State == resource.MemberSoaking:
		end = m.DueAt.Add(r.in.Spec.Soak.D())
	case seen == sawTarget && s.Up:
		now, end = s.BootedAt, *m.DueAt // what counts is when it was seen, not when we look
	default:
		end = *m.DueAt
	}
	if now.Before(end) {
		return timeLeft, end
	}
	return timeOver, end
}
