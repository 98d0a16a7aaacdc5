package top

import (
	"bytes"
	"strings"

	"rackboot/cmd/internal/cli/kinds"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/terminal"
	"rackboot/protocol/resource"
)

// maxScroll is beyond the end of what is shown of any server.
const maxScroll = 1 << 20

// lastScroll is the scroll that shows the last lines of the server that is open.
func (m model) lastScroll() int { return max(len(m.detail())-m.room(), 0) }

// detail is the server that is open, in lines: what is wrong with it, its last power-on, and what else is
// known of it. It is of the time of the last answer, so that it has as many lines for keys as for frames.
func (m model) detail() []cell {
	s := m.server()
	if s == nil {
		return []cell{say("The hub has no such server any more, or it is not among those that were asked for.")}
	}
	now := m.shot.at
	rack := m.shot.places.Of(s)
	if m.looked.server == m.open && m.looked.object != nil { // the rows have some of its fields only
		s = m.looked.object
	}
	_, facts, conditions := kinds.Describe(resource.KindServer, s, now, func(resource.Object) string { return rack })
	var out []cell
	add := func(text string) {
		for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
			out = append(out, m.wrapped(line)...)
		}
	}
	if conditions == "" {
		conditions = "Conditions: none"
	}
	add(conditions)
	if r := s.Status.Report; r != nil && r.Awaits != nil {
		add("Awaits: " + kinds.Awaited(r.Awaits, now))
	}
	out = append(out, cell{})
	switch {
	case m.looked.server != m.open:
		add("Power-on: the rack's agent is asked")
	case m.looked.why != "":
		out = append(out, m.wrapped("Power-on: not known: "+m.looked.why)...)
	default:
		var b bytes.Buffer
		if err := terminal.Trace(&b, m.looked.trace); err != nil { // into memory
			add("Power-on: " + err.Error())
		}
		add(b.String())
	}
	out = append(out, cell{})
	for _, f := range facts {
		if text := printer.Dash(f[1]); text != "-" {
			add(f[0] + ": " + text)
		}
	}
	return out
}

// wrapped is a line of text in as many as it takes on the screen; what goes on stands further in.
func (m model) wrapped(line string) (out []cell) {
	body := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(body)]
	for i, part := range printer.Wrap(body, max(m.columns-len(indent)-4, 20)) {
		if i > 0 {
			part = "  " + part
		}
		out = append(out, say(indent+part))
	}
	return out
}
