package cli

import (
	"fmt"
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// rolloutSign is how a state is drawn in a bar, and named below it. What is drawn first
// has come furthest.
type rolloutSign struct {
	state resource.MemberState
	sign  rune
	word  string
}

func rolloutSigns() []rolloutSign {
	return []rolloutSign{
		{resource.MemberDone, '#', "done"},
		{resource.MemberSoaking, '=', "soaking"},
		{resource.MemberBegun, '>', "begun"},
		{resource.MemberReturned, '-', "returned"},
		{resource.MemberReturning, '<', "returning"},
		{resource.MemberFailed, 'x', "failed"},
		{resource.MemberWaiting, '.', "waiting"},
	}
}

// rolloutBar draws states in so many characters: by their shares, and at least one for
// each state that there is, so that one failed server of a thousand is seen.
func rolloutBar(c rolloutCounts, width int) string {
	signs := slices.DeleteFunc(rolloutSigns(), func(s rolloutSign) bool { return c[s.state] == 0 })
	total := 0
	for _, s := range signs {
		total += c[s.state]
	}
	if total == 0 || width < len(signs) {
		return strings.Repeat(" ", max(width, 0))
	}
	cells, used := make([]int, len(signs)), 0
	for i, s := range signs {
		cells[i] = max(1, c[s.state]*width/total)
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
			off := (c[s.state]*width - cells[i]*total) * step
			if (step > 0 || cells[i] > 1) && (most < 0 || off > worst) {
				most, worst = i, off
			}
		}
		cells[most] += step
		used += step
	}
	var b strings.Builder
	for i, s := range signs {
		b.WriteString(strings.Repeat(string(s.sign), cells[i]))
	}
	return b.String()
}

// rolloutLegend names the states with their signs and numbers.
func rolloutLegend(c rolloutCounts) string {
	var out []string
	for _, s := range rolloutSigns() {
		if n := c[s.state]; n > 0 || s.state == resource.MemberDone {
			out = append(out, fmt.Sprintf("%c %d %s", s.sign, n, s.word))
		}
	}
	return strings.Join(out, "  ")
}

// rolloutLine is how far it is in one line.
func rolloutLine(r rolloutReport) string {
	parts := []string{fmt.Sprintf("%s: %d of %d done", phaseText(r.Rollout), r.States[resource.MemberDone], r.States.total())}
	for _, s := range rolloutSigns()[1:] {
		if n := r.States[s.state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.word))
		}
	}
	text := strings.Join(parts, ", ")
	if r.Rollout.Reason != "" {
		text += "; " + dash(r.Rollout.Reason)
	}
	return text
}
