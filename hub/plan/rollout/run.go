package rollout

import (
	"strings"
	"time"

	"rackboot/protocol/resource"
)

// run is a step under way.
type run struct {
	in      Input
	st      resource.RolloutStatus
	servers map[string]Server // claimed, by name
	out     outlook
	gate    gate
	room    room
	orders  []Order
	blocked string // why nothing more is begun
	wanting []string
	recheck time.Time
}

// last is the number of the last wave; 0 is the canary's, of a group that has no other.
func (r *run) last() int { return r.st.Waves - 1 }

// reached says whether members of a wave may be begun.
func (r *run) reached(wave int) bool {
	return wave <= r.st.Wave || r.st.Phase == resource.RolloutCompleted
}

// at remembers when a step is due.
func (r *run) at(t time.Time) {
	if t.After(r.in.Now) && (r.recheck.IsZero() || t.Before(r.recheck)) {
		r.recheck = t
	}
}

// maxReason bounds the reason of a member in bytes: the status has one for each server, and
// is one value of a store. The whole of it is in the server's own conditions.
const maxReason = 120

// short is a reason that may be stored.
func short(reason string) string {
	if len(reason) <= maxReason {
		return reason
	}
	const more = "…"
	return strings.ToValidUTF8(reason[:maxReason-len(more)], "") + more
}

// set stores a member in a state that it comes to now.
func (r *run) set(name string, m resource.RolloutMember, state resource.MemberState, reason string) {
	m.State, m.Since, m.Reason = state, r.in.Now.UTC(), short(reason)
	r.st.Members[name] = m
}

// moving says whether a server is on its way.
func (r *run) moving() bool {
	for _, m := range r.st.Members {
		if m.State == resource.MemberBegun || m.State == resource.MemberSoaking {
			return true
		}
	}
	return false
}
