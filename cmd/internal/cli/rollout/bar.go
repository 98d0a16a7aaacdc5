package rollout

import (
	"fmt"
	"slices"
	"strings"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

// Sign is how a state is drawn in a bar, and named below it. What is drawn first
// has come furthest.
type Sign struct {
	State resource.MemberState
	Sign  rune
	Word  string
}

// Signs are those of all states, in the order of a bar.
func Signs() []Sign {
	return []Sign{
		{resource.MemberDone, '#', "done"},
		{resource.MemberSoaking, '=', "soaking"},
		{resource.MemberBegun, '>', "begun"},
		{resource.MemberReturned, '-', "returned"},
		{resource.MemberReturning, '<', "returning"},
		{resource.MemberFailed, 'x', "failed"},
		{resource.MemberWaiting, '.', "waiting"},
	}
}

// Bar draws states in so many characters: by their shares, and at least one for
// each state that there is, so that one failed server of a thousand is seen.
func Bar(c Counts, width int) string {
	signs := slices.DeleteFunc(Signs(), func(s Sign) bool { return c[s.State] == 0 })
	total := 0
	for _, s := range signs {
		total += c[s.State]
	}
	if total == 0 || width < len(signs) {
		return strings.Repeat(" ", max(width, 0))
	}
	cells, used := make([]int, len(signs)), 0
	for i, s := range signs {
		cells[i] = max(1, c[s.State]*width/total)
		used += cells[i]
	}
	for used != width {
		step := 1
		if used > width {
			step = -1
		}
		// The one that is furthest from its share gives or takes.
		most, worst := -1, 0
		for i, s := range signs {
			off := (c[s.State]*width - cells[i]*total) * step
			if (step > 0 || cells[i] > 1) && (most < 0 || off > worst) {
				most, worst = i, off
			}
		}
		cells[most] += step
		used += step
	}
	var b strings.Builder
	for i, s := range signs {
		b.WriteString(strings.Repeat(string(s.Sign), cells[i]))
	}
	return b.String()
}

// Legend names the states with their signs and numbers.
func Legend(c Counts) string {
	var out []string
	for _, s := range Signs() {
		if n := c[s.State]; n > 0 || s.State == resource.MemberDone {
			out = append(out, fmt.Sprintf("%c %d %s", s.Sign, n, s.Word))
		}
	}
	return strings.Join(out, "  ")
}

// Line is how far it is in one line.
func Line(st resource.RolloutStatus) string {
	c := Count(st)
	parts := []string{fmt.Sprintf("%s: %d of %d done", Phase(st), c[resource.MemberDone], c.Total())}
	for _, s := range Signs()[1:] {
		if n := c[s.State]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.Word))
		}
	}
	text := strings.Join(parts, ", ")
	if st.Reason != "" {
		text += "; " + printer.Dash(st.Reason)
	}
	return text
}
