package group

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/cli/rollout"
	"rackboot/protocol/resource"
)

const (
	// rolloutBarMost and rolloutBarLeast bound how wide the bar of a roll-out is, in
	// characters; rolloutBarRest is what stands beside it.
	rolloutBarMost, rolloutBarLeast = 60, 10
	rolloutBarRest                  = len("[] 100 %")
	// rolloutNamed is how many servers are named where not all are asked for.
	rolloutNamed = 20
)

// rolloutText is a roll-out for people; all names every server of it. The bar fits into so
// many columns.
func rolloutText(r rolloutReport, now time.Time, all bool, columns int) string {
	var b strings.Builder
	st := r.Rollout
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(name, value string) { fmt.Fprintf(w, "%s:\t%s\n", name, printer.Dash(value)) }
	line("Group", r.Group)
	revision := strconv.Itoa(st.Revision)
	if st.From > 0 {
		revision += fmt.Sprintf(", from %d", st.From)
	}
	line("Revision", revision)
	line("Strategy", string(st.Strategy))
	line("Phase", rollout.Phase(st))
	if st.Reason != "" {
		line("Reason", st.Reason)
	}
	if st.By != "" {
		line("By", st.By)
	}
	if r.Windows != "" {
		line("Windows", r.Windows)
	}
	line("Began", printer.Stamp(&st.StartedAt)+ago(&st.StartedAt, now))
	if st.EndedAt != nil {
		line("Ended", printer.Stamp(st.EndedAt)+ago(st.EndedAt, now))
	}
	_ = w.Flush() // a strings.Builder takes everything
	b.WriteString("\n" + rolloutProgress(r, columns) + "\n\n")
	wavesText(&b, r)
	membersText(&b, r, now, all)
	if len(r.ToDo) > 0 {
		b.WriteString("\nWhat to do:\n")
		for _, t := range r.ToDo {
			b.WriteString("  " + t + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// rolloutProgress is the bar, and what its signs are below it.
func rolloutProgress(r rolloutReport, columns int) string {
	total := r.States.Total()
	if total == 0 {
		return "no servers"
	}
	width := min(max(columns-rolloutBarRest, rolloutBarLeast), rolloutBarMost)
	return fmt.Sprintf("[%s] %3d %%\n%s", rollout.Bar(r.States, width), r.States[resource.MemberDone]*100/total, rollout.Legend(r.States))
}

func ago(t *time.Time, now time.Time) string {
	if text := printer.Age(t, now); text != "" {
		return ", " + text + " ago"
	}
	return ""
}

// wavesText is a table of the waves; states that no server is in have no column, but for
// the first ones.
func wavesText(b *strings.Builder, r rolloutReport) {
	signs := slices.DeleteFunc(rollout.Signs(), func(s rollout.Sign) bool {
		always := s.State == resource.MemberDone || s.State == resource.MemberFailed || s.State == resource.MemberWaiting
		return !always && r.States[s.State] == 0
	})
	w := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	head := []string{"WAVE", "SERVERS"}
	for _, s := range signs {
		head = append(head, strings.ToUpper(s.Word))
	}
	fmt.Fprintln(w, strings.Join(head, "\t"))
	for i, c := range r.Waves {
		name := waveName(i)
		if i == r.Rollout.Wave && !r.Rollout.Phase.Over() {
			name += " (now)"
		}
		row := []string{name, strconv.Itoa(c.Total())}
		for _, s := range signs {
			row = append(row, strconv.Itoa(c[s.State]))
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a strings.Builder takes everything
}

// toNotice is in which order servers are named: 0 is not at all.
func toNotice(st resource.RolloutStatus, m resource.RolloutMember) int {
	switch m.State {
	case resource.MemberFailed:
		return 1
	case resource.MemberReturning:
		return 2
	case resource.MemberBegun, resource.MemberSoaking:
		if m.Reason != "" {
			return 3
		}
	case resource.MemberWaiting:
		// Who comes late to a complete one is begun then.
		if m.Reason != "" || m.Wave <= st.Wave && (!st.Phase.Over() || st.Phase == resource.RolloutCompleted) {
			return 4
		}
	case resource.MemberDone, resource.MemberSkipped, resource.MemberReturned:
	}
	return 0
}

// named are the servers that are shown: those that failed or wait, or all; and how many
// there are besides.
func named(st resource.RolloutStatus, all bool) (names []string, more int) {
	names = slices.Collect(maps.Keys(st.Members))
	if all {
		slices.SortFunc(names, func(x, y string) int {
			return cmp.Or(cmp.Compare(st.Members[x].Wave, st.Members[y].Wave), cmp.Compare(x, y))
		})
		return names, 0
	}
	names = slices.DeleteFunc(names, func(n string) bool { return toNotice(st, st.Members[n]) == 0 })
	slices.SortFunc(names, func(x, y string) int {
		p, q := st.Members[x], st.Members[y]
		return cmp.Or(cmp.Compare(toNotice(st, p), toNotice(st, q)), cmp.Compare(p.Wave, q.Wave), cmp.Compare(x, y))
	})
	shown := min(len(names), rolloutNamed)
	return names[:shown], len(names) - shown
}

// membersText is a table of the servers that are named.
func membersText(b *strings.Builder, r rolloutReport, now time.Time, all bool) {
	st := r.Rollout
	names, more := named(st, all)
	if len(names) == 0 {
		return
	}
	b.WriteString("\n")
	w := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	head := "SERVER\tWAVE\tSTATE\tSINCE\tREASON"
	if all {
		head = "SERVER\tWAVE\tSTATE\tSINCE\tBEGUN\tDUE\tREASON"
	}
	fmt.Fprintln(w, head)
	for _, n := range names {
		m := st.Members[n]
		row := []string{n, waveName(m.Wave), string(m.State), printer.Age(&m.Since, now)}
		if all {
			row = append(row, printer.Stamp(m.BegunAt), printer.Stamp(m.DueAt))
		}
		row = append(row, cmp.Or(m.Reason, r.Away[n]))
		for i := range row {
			row[i] = printer.Dash(row[i])
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a strings.Builder takes everything
	if more > 0 {
		fmt.Fprintf(b, "and %d more; -o wide names every server\n", more)
	}
}
