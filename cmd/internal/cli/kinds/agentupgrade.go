package kinds

import (
	"strconv"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/cli/rollout"
	"rackboot/protocol/resource"
)

func agentUpgradeColumns(u *resource.AgentUpgrade, now time.Time) []cell {
	done, phase := "", ""
	if r := u.Status.Rollout; r != nil {
		c := rollout.Count(*r)
		done, phase = strconv.Itoa(c[resource.MemberDone])+"/"+strconv.Itoa(c.Total()), string(r.Phase)
	}
	return []cell{
		col("NAME", u.Metadata.Name),
		col("VERSION", u.Status.Version),
		col("RACKS", rackSelector(u)),
		col("DONE", done),
		col("ROLLOUT", phase),
		conditionsCell(u.Status.Conditions, now),
		col("AGE", printer.Age(u.Metadata.CreatedAt, now)).aged(""),
		wide("PACKAGE", u.Spec.Package),
		wide("MESSAGE", u.Status.Message),
	}
}

// agentUpgradeFacts has a line for each rack that is under way or wants a look; the others are counted.
func agentUpgradeFacts(u *resource.AgentUpgrade) []printer.Fact {
	st := u.Status
	out := []printer.Fact{{"Package", u.Spec.Package}, {"Racks", rackSelector(u)}, {"Message", st.Message}}
	if st.Rollout == nil {
		return out
	}
	out = append(out, printer.Fact{"Roll-out", "of release " + printer.Dash(st.Version) + ", " + rollout.Line(*st.Rollout)})
	for _, name := range printer.SortedNames(st.Rollout.Members) {
		m := st.Rollout.Members[name]
		if m.State == resource.MemberDone || m.State == resource.MemberWaiting && m.Reason == "" {
			continue
		}
		text := string(m.State)
		if m.Reason != "" {
			text += ": " + m.Reason
		}
		out = append(out, printer.Fact{"Rack " + name, text})
	}
	return out
}

func rackSelector(u *resource.AgentUpgrade) string {
	if u.Spec.Racks == nil {
		return "all"
	}
	return u.Spec.Racks.String()
}
