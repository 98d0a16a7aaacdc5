package rollout

import (
	"fmt"
	"strings"

	"rackboot/protocol"
)

// message says how far it is, in one line.
func (r *run) message() string {
	n := map[protocol.MemberState]int{}
	for _, m := range r.st.Members {
		n[m.State]++
	}
	what := fmt.Sprintf("wave %d of %d", r.st.Wave, max(r.last(), 0))
	switch {
	case r.st.Phase == protocol.RolloutCompleted:
		what = "completed"
	case r.st.Phase == protocol.RolloutRolledBack:
		what = "rolled back"
	case r.st.Wave == 0:
		what = "canary"
	}
	parts := []string{fmt.Sprintf("%s: %d of %d done", what, n[protocol.MemberDone], len(r.st.Members)-n[protocol.MemberSkipped])}
	for _, s := range []protocol.MemberState{
		protocol.MemberBegun, protocol.MemberSoaking, protocol.MemberFailed, protocol.MemberReturning, protocol.MemberReturned,
	} {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s], words(s)))
		}
	}
	text, why := strings.Join(parts, ", "), r.blocked
	if r.st.Phase == protocol.RolloutPaused || r.st.Phase == protocol.RolloutRolledBack && why == "" {
		why = r.st.Reason
	}
	if why != "" {
		text += "; " + why
	}
	return text
}

func words(s protocol.MemberState) string {
	switch s {
	case protocol.MemberBegun:
		return "begun"
	case protocol.MemberSoaking:
		return "soaking"
	case protocol.MemberFailed:
		return "failed"
	case protocol.MemberReturning:
		return "on the way back"
	case protocol.MemberReturned:
		return "returned"
	case protocol.MemberWaiting, protocol.MemberDone, protocol.MemberSkipped:
	}
	return string(s)
}
