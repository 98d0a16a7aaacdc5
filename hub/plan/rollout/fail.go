package rollout

import (
	"fmt"

	"rackboot/protocol/resource"
)

// ending is what becomes of a roll-out that failed.
type ending string

const (
	endPause    ending = "pause"
	endRollBack ending = "rollback"
)

// failRule says what is done. Without a revision before there is nothing to return to,
// and what is not known is the milder of the two.
//
//	onFailure | before | ending
//	Rollback  | yes    | rollback
//	*         | *      | pause
func failRule(on resource.RolloutFailure, before bool) ending {
	if on == resource.OnFailureRollback && before {
		return endRollBack
	}
	return endPause
}

// tooMany says that more members failed than may, or so many that they alone leave no
// room, so that it could not go on; empty if not. Those that were down before count for
// the room only, and alone they are no failure: then it waits for people, who see them
// named.
func (r *run) tooMany() string {
	var failed []string
	down := 0
	for name, m := range r.st.Members {
		if m.State != resource.MemberFailed {
			continue
		}
		if !m.WasDown {
			failed = append(failed, name)
		}
		if s, here := r.servers[name]; here && !s.Up {
			down++
		}
	}
	most := roomOf(r.in.Words, r.in.Spec.MaxUnavailable, r.servers, r.st.Members).most
	n := len(failed)
	why := names(failed)
	if n == 1 {
		why += ": " + r.st.Members[failed[0]].Reason
	}
	switch {
	case n > max(r.in.Spec.MaxFailures, 0):
		return fmt.Sprintf("%d %s failed, and at most %d may: %s", n, r.in.Words.members(), r.in.Spec.MaxFailures, why)
	case n > 0 && down > 0 && down >= most:
		return fmt.Sprintf("%d %s failed and are down, and at most %d may be: %s", down, r.in.Words.members(), most, why)
	}
	return ""
}

// fail ends a roll-out that failed, unless it is paused: then people are at it.
func (r *run) fail(why string) {
	if r.st.Phase == resource.RolloutPaused {
		return
	}
	now := r.in.Now.UTC()
	r.st.By, r.orders = "", nil
	for name, m := range r.st.Members {
		if s := r.servers[name]; unrecorded(m, s, see(m, s)) {
			r.unbegin(name, m, "")
		}
	}
	switch failRule(r.in.Spec.OnFailure, r.st.From > 0) {
	case endRollBack:
		r.st.Phase, r.st.EndedAt, r.st.Reason = resource.RolloutRolledBack, &now, why
	case endPause:
		r.st.Resumes = resource.RolloutCanary
		if r.st.Wave > 0 {
			r.st.Resumes = resource.RolloutWave
		}
		r.st.Phase, r.st.Reason = resource.RolloutPaused, why
		r.gate = gatePaused
	}
}
