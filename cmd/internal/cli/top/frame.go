package top

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// staleAfter is how old the newest answer of a hub may be before the screen warns of it, also while a
// question is still open.
const staleAfter = 20 * time.Second

// painter draws cells: with colours, or without.
type painter struct{ colours bool }

// paint is a cell in so many columns.
func (p painter) paint(c cell, width int) string {
	text := c.fit(width)
	if !p.colours {
		return text
	}
	return c.tone.Paint(text)
}

// line has cells behind each other, and is as wide as the screen. The last is as wide as what is left.
func (p painter) line(screen int, cells []cell, width []int) string {
	var b strings.Builder
	left := screen
	for i, c := range cells {
		w := min(width[i], left)
		if i == len(cells)-1 {
			w = left
		}
		b.WriteString(p.paint(c, w))
		left -= w
	}
	return b.String()
}

// whole is a cell as wide as the screen.
func (p painter) whole(screen int, c cell) string { return p.line(screen, []cell{c}, []int{screen}) }

// ends is one text at the left and one at the right. That at the left is cut where both have no room.
func (p painter) ends(screen int, left, right cell) string {
	w := min(ansi.StringWidth(plain(right.text)), screen)
	return p.line(screen, []cell{left, right}, []int{screen - w, w})
}

// frame is the screen at a time: as many lines as it has, each as wide as it is.
func (m model) frame(now time.Time, p painter) []string {
	at := m.asOf(now)
	out := []string{m.hubLine(now, p), m.stateLine(now, at, p)}
	if m.open != "" {
		out = append(out, m.openLines(at, p)...)
	} else {
		out = append(out, m.table(at, p)...)
	}
	blank := p.whole(m.columns, cell{})
	for len(out) < m.lines-foot {
		out = append(out, blank)
	}
	out = append(out[:max(min(len(out), m.lines-foot), 0)], m.keyLine(p))
	return out[:min(len(out), max(m.lines, 0))]
}

// hubLine says which hub it is, as whom it is asked, and how old its last answer is.
func (m model) hubLine(now time.Time, p painter) string {
	age := say("read " + cmp.Or(printer.Age(&m.shot.at, now), "never") + " ago  " + clock(now))
	if now.Sub(m.shot.at) > staleAfter {
		age.tone = printer.Bad
	}
	return p.ends(m.columns, say(fmt.Sprintf("hub %s %s as %s", m.shot.hub, cmp.Or(m.shot.version, "-"), m.shot.caller)), age)
}

// stateLine counts the fleet, or says what is wrong with what is shown. The first row that fits decides.
func (m model) stateLine(now, at time.Time, p painter) string {
	switch t := m.trouble; {
	case t.lost():
		what := "HUB LOST"
		if t.code != protocol.CodeUnavailable && t.code != protocol.CodeTimeout {
			what = "HUB REFUSES"
		}
		return p.whole(m.columns, cell{text: fmt.Sprintf("%s since %s (%s): %s", what, clock(t.since), printer.Age(&t.since, now), t.why), tone: printer.Bad})
	case m.shot.lacks != "":
		return p.whole(m.columns, cell{text: "INCOMPLETE: " + m.shot.lacks, tone: printer.Bad})
	}
	var ice []string
	for _, z := range m.shot.freezes {
		if !over(z, at) {
			ice = append(ice, freezeOf(z))
		}
	}
	n := m.counts
	text := fmt.Sprintf("%s, %d silent  %s: %d failing, %d doubtful, %d busy", printer.Plural(len(m.shot.racks), "rack"), n.silent,
		printer.Plural(len(m.shot.servers), "server"), n.levels[failing], n.levels[doubtful], n.levels[busy])
	if len(ice) > 0 {
		text += "  frozen: " + strings.Join(ice, ", ")
	}
	tone := printer.Plain
	if n.silent+n.levels[failing] > 0 {
		tone = printer.Bad
	}
	return p.whole(m.columns, cell{text: text, tone: tone})
}

// freezeOf is what a freeze is of.
func freezeOf(z *resource.Freeze) string {
	switch {
	case z.Spec.RackRef != nil:
		return z.Spec.RackRef.Name
	case z.Spec.ServerSelector != nil:
		return z.Spec.ServerSelector.String()
	}
	return "all"
}

// ofThen says that what is shown is not of now; empty where it is.
func (m model) ofThen() string {
	switch {
	case m.trouble.lost():
		return "  OF " + clock(m.shot.at) + ", NOT OF NOW"
	case !m.paused.IsZero():
		return "  PAUSED at " + clock(m.paused)
	}
	return ""
}

// table is the line above the table, its headings, and the rows that there is room for.
func (m model) table(at time.Time, p painter) []string {
	columns, what := serverColumns(), "servers"
	if m.tab == racks {
		columns, what = rackColumns(), "racks"
	}
	end := min(m.first+m.room(), len(m.rows))
	mode := fmt.Sprintf("%s %d-%d of %d, %s", what, min(m.first+1, end), end, len(m.rows), m.order)
	if m.rackWanted() != "" {
		mode += ", in rack " + m.rack
	}
	if m.filter != "" {
		mode += fmt.Sprintf(", with %q", m.filter)
	}
	heading := cell{text: mode + m.ofThen()}
	if m.ofThen() != "" {
		heading.tone = printer.Busy
	}
	width := widths(columns, m.columns)
	out := []string{p.whole(m.columns, heading), m.tableLine(p, width, " ", func(i int) cell { return say(columns[i].name) })}
	if m.trouble.lost() {
		p.colours = false // it is not so any more, or nobody knows
	}
	for i := m.first; i < end; i++ {
		mark, cells := " ", m.rows[i].cells(at)
		if i == m.at() {
			mark = ">"
		}
		out = append(out, m.tableLine(p, width, mark, func(i int) cell { return cells[i] }))
	}
	return out
}

// tableLine is a row. A column that is left out has no width.
func (m model) tableLine(p painter, width []int, mark string, of func(int) cell) string {
	cells, wide := []cell{say(mark)}, []int{1}
	for i, w := range width {
		if w > 0 {
			cells, wide = append(cells, of(i), cell{}), append(wide, w, 1)
		}
	}
	return p.line(m.columns, cells, wide)
}

// openLines are the server that is open, as far as there is room.
func (m model) openLines(at time.Time, p painter) []string {
	lines := m.detail()
	first := min(m.scroll, max(len(lines)-m.room(), 0))
	end := min(first+m.room(), len(lines))
	out := []string{p.whole(m.columns, say(fmt.Sprintf("server %s, lines %d-%d of %d%s", m.open, min(first+1, end), end, len(lines), m.ofThen()))), p.whole(m.columns, cell{})}
	if s := m.server(); s != nil {
		rack := m.shot.places.Of(s)
		cells := serverCells(s, rack, holdsOf(m.shot)[m.open], at, m.shot.live)
		out[1] = m.tableLine(p, widths(serverColumns(), m.columns), " ", func(i int) cell { return cells[i] })
	}
	for _, c := range lines[first:end] {
		out = append(out, p.whole(m.columns, c))
	}
	return out
}

// keyLine says which keys there are, or is the filter while that is typed.
func (m model) keyLine(p painter) string {
	switch {
	case m.typing:
		return p.whole(m.columns, say("/"+m.filter+"_   enter keeps it, esc takes it away"))
	case m.open != "":
		return p.whole(m.columns, say("j/k scroll  esc back  q quit"))
	case m.tab == racks:
		return p.whole(m.columns, say("j/k move  enter servers  / filter  esc all  tab servers  s order  p pause  q quit"))
	}
	return p.whole(m.columns, say("j/k move  enter look  / filter  esc all  tab racks  s order  p pause  q quit"))
}

// clock is a time of day.
func clock(t time.Time) string { return t.UTC().Format("15:04:05Z") }
