package rollout

import (
	"fmt"
	"time"

	"rackboot/protocol/resource"
)

// join makes members of servers that came: canaries if they have the canaries' labels
// and the canaries are under way, otherwise in the last wave.
func (r *run) join() {
	for name, s := range r.servers {
		if _, ok := r.st.Members[name]; !ok && s.place() != isGone {
			m := resource.RolloutMember{Wave: r.waveOf(s)}
			r.set(name, m, resource.MemberWaiting, "")
		}
	}
}

// prune forgets who left a roll-out that is complete: it lasts until the next one, and its
// members would only become more.
func (r *run) prune() {
	if r.st.Phase != resource.RolloutCompleted {
		return
	}
	for name, m := range r.st.Members {
		if _, here := r.servers[name]; !here && m.State == resource.MemberSkipped {
			delete(r.st.Members, name)
		}
	}
}

// waveOf is the wave of one who comes late.
func (r *run) waveOf(s Server) int {
	labels := r.in.Spec.Canary.MatchLabels
	if r.st.Wave == 0 && len(labels) > 0 && s.has(labels) && !r.st.Phase.Over() {
		r.st.Waves = max(r.st.Waves, 1)
		return 0
	}
	r.st.Waves = max(r.st.Waves, 2)
	return r.last()
}

// look brings each member to the state that was observed.
func (r *run) look() {
	r.room = roomOf(r.in.Words, r.in.Spec.MaxUnavailable, r.servers, r.st.Members)
	for _, name := range r.sorted() {
		m, s := r.st.Members[name], r.servers[name]
		at := s.place()
		m = r.dueOf(m, at)
		seen := see(m, s)
		if unrecorded(m, s, seen) && at != isGone {
			r.recall(name, m, s)
			continue
		}
		if m.State == resource.MemberBegun {
			m.Reason = "" // of why it was not recorded before
		}
		t, end := r.clockOf(m, s, seen)
		next := memberRule(m.State, seen, at, t)
		if next == resource.MemberSoaking && seen == sawAgain {
			m.Since = s.BootedAt.UTC()
			end = m.Since.Add(r.in.Spec.Soak.D())
		}
		if next == m.State {
			r.st.Members[name] = m
			if next == resource.MemberBegun || next == resource.MemberSoaking {
				r.at(end)
			}
			continue
		}
		r.come(name, m, s, next, seen)
	}
}

// dueOf stops a begun member's time while its server is away, and begins it anew after.
func (r *run) dueOf(m resource.RolloutMember, at place) resource.RolloutMember {
	switch {
	case m.State != resource.MemberBegun:
	case at == isAway:
		m.DueAt = nil
	case m.DueAt == nil:
		due := r.in.Now.UTC().Add(r.in.Spec.Deadline.D())
		m.DueAt = &due
	}
	return m
}

// come stores a member in another state than it had.
func (r *run) come(name string, m resource.RolloutMember, s Server, next resource.MemberState, seen sight) {
	reason := ""
	was, due := m.State, m.DueAt
	m.DueAt = nil
	switch next {
	case resource.MemberSkipped:
		reason = "it has no claim of the group any more"
		if s.Claimed {
			reason = "the revision has no image for its architecture"
		}
	case resource.MemberFailed:
		reason = failure(r.in.Words, m, s, seen, due)
	case resource.MemberWaiting:
		m.BegunAt, m.WasDown = nil, false
		if was == resource.MemberSkipped && r.st.Wave > 0 {
			r.st.Waves = max(r.st.Waves, 2)
			m.Wave = r.last()
		}
	case resource.MemberSoaking:
		if due == nil {
			d := r.in.Now.UTC().Add(r.in.Spec.Deadline.D())
			due = &d
		}
		m.DueAt = due
	case resource.MemberBegun, resource.MemberDone, resource.MemberReturning, resource.MemberReturned:
	}
	since := m.Since
	r.set(name, m, next, reason)
	if was == resource.MemberSoaking && next == resource.MemberWaiting {
		m = r.st.Members[name]
		m.Since = since // what fails while nobody sees it has failed since it soaked
		r.st.Members[name] = m
	}
	if next == resource.MemberSoaking {
		r.soak(name, s, was)
	}
}

// soak sets since when it soaks. A boot without an order counts from when it was seen: a
// server that has booted the revision for long is proved already.
func (r *run) soak(name string, s Server, was resource.MemberState) {
	m := r.st.Members[name]
	if was == resource.MemberWaiting && !s.BootedAt.IsZero() || s.BootedAt.After(m.Since) {
		m.Since = s.BootedAt.UTC()
	}
	end := m.Since.Add(r.in.Spec.Soak.D())
	if !r.in.Now.Before(end) {
		m.State, m.DueAt, m.Since = resource.MemberDone, nil, r.in.Now.UTC()
	}
	r.st.Members[name] = m
	r.at(end)
}

// failure says why a member has failed.
func failure(of Words, m resource.RolloutMember, s Server, seen sight, due *time.Time) string {
	switch {
	case seen == sawFailure:
		return s.Failed
	case m.State == resource.MemberSoaking && seen == sawAgain && s.Up:
		return "it boots again and again"
	case m.State == resource.MemberSoaking && seen == sawOther:
		return "it booted another image while it soaked"
	case m.State == resource.MemberSoaking:
		return fmt.Sprintf("it did not stay up while it soaked: %s", s.Down)
	case due != nil:
		return "it was not seen to " + of.boots() + " by " + due.UTC().Format(time.RFC3339)
	}
	return "it was not seen to " + of.boots() + " in time"
}

// unrecorded says that the order to a begun member was not recorded, nor overtaken by what
// the server did.
func unrecorded(m resource.RolloutMember, s Server, seen sight) bool {
	return m.State == resource.MemberBegun && m.BegunAt != nil && !s.Ordered.Equal(*m.BegunAt) && seen == sawOther
}

// recall gives an order again that was not recorded, with at least half of its time left,
// or takes it back if it may not be given any more, or is of too long ago.
func (r *run) recall(name string, m resource.RolloutMember, s Server) {
	now := r.in.Now.UTC()
	old := !now.Before(m.BegunAt.Add(r.in.Spec.Deadline.D()))
	if !old && takeRule(r.st.Strategy, r.gate, spotOf(r.st.Strategy, s), r.mayTake(m), r.approved(name), r.room.enough()) == takeBegin {
		half := r.in.Spec.Deadline.D() / 2
		if m.DueAt == nil || !now.Before(m.DueAt.Add(-half)) { // and not in each step, which would store each
			due := now.Add(r.in.Spec.Deadline.D())
			m.DueAt = &due
		}
		m.Reason = short(s.Waits)
		r.st.Members[name] = m
		r.order(name, *m.BegunAt)
		r.at(m.DueAt.Add(-half))
		return
	}
	r.unbegin(name, m, s.Waits)
	if s.Up {
		r.room.free(name)
	}
}

// unbegin takes an order back that was not recorded, and says why it was not.
func (r *run) unbegin(name string, m resource.RolloutMember, why string) {
	m.BegunAt, m.DueAt, m.WasDown = nil, nil, false
	r.set(name, m, resource.MemberWaiting, why)
}
