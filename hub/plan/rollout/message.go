package rollout

import (
	"fmt"
	"strings"

	"rackboot/protocol/resource"
)

// message says how far it is, in one line.
func (r *run) message() string {
	n := map[resource.MemberState]int{}
	for _, m := range r.st.Members {
		n[m.State]++
	}
	what := fmt.Sprintf("wave %d of %d", r.st.Wave, max(r.last(), 0))
	switch {
	case r.st.Phase == resource.RolloutCompleted:
		what = "completed"
	case r.st.Phase == resource.RolloutRolledBack:
		what = "rolled back"
	case r.st.Wave == 0:
		what = "canary"
	}
	parts := []string{fmt.Sprintf("%s: %d of %d done", what, n[resource.MemberDone], len(r.st.Members)-n[resource.MemberSkipped])}
	for _, s := range []resource.MemberState{
		resource.MemberBegun, resource.MemberSoaking, resource.MemberFailed, resource.MemberReturning, resource.MemberReturned,
	} {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s], words(s)))
		}
	}
	text, why := strings.Join(parts, ", "), r.blocked
	if r.st.Phase == resource.RolloutPaused || r.st.Phase == resource.RolloutRolledBack && why == "" {
		why = r.st.Reason
	}
	if why != "" {
		text += "; " + why
	}
	return text
}

func words(s resource.MemberState) string {
	switch s {
	case resource.MemberBegun:
		return "begun"
	case resource.MemberSoaking:
		return "soaking"
	case resource.MemberFailed:
		return "failed"
	case resource.MemberReturning:
		return "on the way back"
	case resource.MemberReturned:
		return "returned"
	case resource.MemberWaiting, resource.MemberDone, resource.MemberSkipped:
	}
	return string(s)
}
