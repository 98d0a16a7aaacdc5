package kinds

import (
	"cmp"
	"fmt"
	"slices"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/cli/rollout"
	"rackboot/protocol/resource"
)

// agentUpgradeFacts are what a description of an upgrade of agents has besides the columns: how far it is, and each rack that is
// neither done nor waiting, with why.
func agentUpgradeFacts(u *resource.AgentUpgrade) []printer.Fact {
	st := u.Status.Rollout
	if st == nil {
		return nil
	}
	out := []printer.Fact{{"Roll-out", rollout.Line(*st)}, {"Began", printer.Stamp(&st.StartedAt)}, {"Ended", printer.Stamp(st.EndedAt)}}
	names := printer.SortedNames(st.Members)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(st.Members[a].Wave, st.Members[b].Wave) })
	for _, name := range names {
		m := st.Members[name]
		if m.State == resource.MemberDone || m.State == resource.MemberWaiting && m.Reason == "" {
			continue
		}
		text := fmt.Sprintf("%s since %s", m.State, printer.Stamp(&m.Since))
		if m.DueAt != nil {
			text += ", until " + printer.Stamp(m.DueAt)
		}
		if m.Reason != "" {
			text += ": " + m.Reason
		}
		out = append(out, printer.Fact{"Rack " + name, text})
	}
	return out
}
