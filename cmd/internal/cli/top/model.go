package top

import (
	"slices"
	"time"
	"unicode"

	"rackboot/protocol/resource"
)

// tab is which table is shown.
type tab int

// The tabs.
const (
	servers tab = iota
	racks
)

// maxFilter bounds a filter in characters.
const maxFilter = 64

// head and foot are the lines above and below the rows.
const head, foot = 4, 1

// press is a key: its name as "enter", and the text that it types, if any.
type press struct{ name, text string }

// model is what is on the screen and what somebody chose to see. Its methods return a new one; only times
// that are passed in count.
type model struct {
	shot    snapshot
	trouble trouble
	looked  looked
	// all are the rows of servers and racks, made once of each snapshot, and counts what is said above them; rows are those
	// that are shown, in order.
	all    [2][]row
	counts counts
	rows   []row

	columns, lines int // of the screen
	tab            tab
	order          order
	filter, rack   string
	typing         bool // the filter is being typed
	// selected is the name of the row that keys are about; empty is the first.
	selected string
	first    int // the first row on the screen

	// paused is since when nothing new is shown; zero where it is. next is what waits then.
	paused time.Time
	next   *snapshot

	// open is the server that is looked at; empty is the table. scroll is its first line on the screen.
	open   string
	scroll int
}

// newModel is a screen of so many characters and lines with what was read first.
func newModel(s snapshot, columns, lines int) model {
	return model{shot: s, columns: columns, lines: lines}.made(s.at)
}

// counts is a fleet in numbers.
type counts struct {
	silent int // racks without an agent that is heard
	levels [failing + 1]int
}

// made has the rows of a new snapshot.
func (m model) made(now time.Time) model {
	at := m.asOf(now)
	m.all = [2][]row{servers: serverRows(m.shot, at), racks: rackRows(m.shot, at)}
	m.counts = counts{silent: silentRacks(m.shot)}
	for _, r := range m.all[servers] {
		m.counts.levels[r.level]++
	}
	return m.arranged()
}

// take shows what was read, or keeps it while nothing new is shown.
func (m model) take(s snapshot, now time.Time) model {
	m.trouble = trouble{}
	if !m.paused.IsZero() {
		m.next = &s
		return m
	}
	m.shot = s
	return m.made(now)
}

// hear says that what is shown is of a later time than before.
func (m model) hear(h heard) model {
	if m.paused.IsZero() && !m.trouble.lost() { // after trouble everything is read again
		m.shot.at = h.at
	}
	return m
}

// lose says that the hub does not answer. Since when stays what it was.
func (m model) lose(t trouble) model {
	if m.trouble.lost() {
		t.since = m.trouble.since
	}
	m.trouble = t
	return m
}

// look shows what was read of a server, if it is still the one that is open.
func (m model) look(l looked) model {
	if l.server == m.open {
		m.looked = l
	}
	return m
}

// size is a screen of another size.
func (m model) size(columns, lines int) model {
	m.columns, m.lines = columns, lines
	return m.seen()
}

// arranged has the rows of the tab that the filter finds, in order.
func (m model) arranged() model {
	m.rows = among(m.all[m.tab], m.filter, m.rackWanted(), m.order)
	return m.seen()
}

// rackWanted is the rack whose servers are shown; of racks all are.
func (m model) rackWanted() string {
	if m.tab == racks {
		return ""
	}
	return m.rack
}

// asOf is the time of which the screen tells: now, or the time of what was read last where nothing new is
// shown. A wait does not grow while nobody knows whether it goes on.
func (m model) asOf(now time.Time) time.Time {
	if m.trouble.lost() || !m.paused.IsZero() {
		return m.shot.at
	}
	return now
}

// room is how many rows the screen has.
func (m model) room() int { return max(m.lines-head-foot, 0) }

// at is the number of the selected row: the first where that is not shown any more.
func (m model) at() int {
	return max(slices.IndexFunc(m.rows, func(r row) bool { return r.name == m.selected }), 0)
}

// seen scrolls until the selected row is on the screen.
func (m model) seen() model {
	at := m.at()
	m.first = min(m.first, at, max(len(m.rows)-m.room(), 0))
	if m.room() > 0 && at >= m.first+m.room() {
		m.first = at - m.room() + 1
	}
	return m
}

// to selects a row.
func (m model) to(at int) model {
	if len(m.rows) == 0 {
		return m
	}
	m.selected = m.rows[min(max(at, 0), len(m.rows)-1)].name
	return m.seen()
}

// key does what a key asks for; quit says that it is the end.
func (m model) key(k press, now time.Time) (next model, quit bool) {
	switch {
	case k.name == "ctrl+c":
		return m, true
	case m.typing:
		return m.typed(k), false
	case k.name == "q":
		return m, true
	case m.open != "":
		return m.scrolled(k), false
	}
	switch k.name {
	case "up", "k":
		return m.to(m.at() - 1), false
	case "down", "j":
		return m.to(m.at() + 1), false
	case "pgup", "ctrl+b":
		return m.to(m.at() - m.room()), false
	case "pgdown", "ctrl+f", "space":
		return m.to(m.at() + m.room()), false
	case "home", "g":
		return m.to(0), false
	case "end", "G", "shift+g":
		return m.to(len(m.rows) - 1), false
	case "enter":
		return m.entered(), false
	case "esc":
		m.filter, m.rack = "", ""
		return m.arranged(), false
	case "/":
		m.typing = true
	case "tab":
		m.tab, m.selected, m.first = racks-m.tab, "", 0
		return m.arranged(), false
	case "s":
		m.order = (m.order + 1) % orders
		return m.arranged(), false
	case "p":
		return m.pause(now), false
	}
	return m, false
}

// entered opens the selected server, or the servers of the selected rack.
func (m model) entered() model {
	if len(m.rows) == 0 {
		return m
	}
	name := m.rows[m.at()].name
	if m.tab == racks {
		m.tab, m.rack, m.filter, m.selected, m.first = servers, name, "", "", 0
		return m.arranged()
	}
	m.open, m.selected, m.scroll, m.looked = name, name, 0, looked{}
	return m
}

// pause stops what is shown, or shows what has come since.
func (m model) pause(now time.Time) model {
	if m.paused.IsZero() {
		m.paused = now
		return m
	}
	m.paused = time.Time{}
	if m.next != nil {
		m.shot, m.next = *m.next, nil
	}
	return m.made(now)
}

// typed is a key while the filter is typed.
func (m model) typed(k press) model {
	text := []rune(m.filter)
	switch k.name {
	case "enter":
		m.typing = false
		return m
	case "esc":
		m.typing, text = false, nil
	case "backspace":
		text = text[:max(len(text)-1, 0)]
	case "ctrl+u":
		text = nil
	default:
		for _, r := range k.text {
			if unicode.IsPrint(r) && len(text) < maxFilter {
				text = append(text, r)
			}
		}
	}
	m.filter = string(text)
	return m.arranged()
}

// scrolled is a key while a server is open.
func (m model) scrolled(k press) model {
	switch k.name {
	case "esc", "enter", "backspace", "left":
		m.open, m.looked = "", looked{}
		return m.seen()
	case "up", "k":
		m.scroll--
	case "down", "j":
		m.scroll++
	case "pgup", "ctrl+b":
		m.scroll -= m.room()
	case "pgdown", "ctrl+f", "space":
		m.scroll += m.room()
	case "home", "g":
		m.scroll = 0
	case "end", "G", "shift+g":
		m.scroll = maxScroll
	}
	m.scroll = min(max(m.scroll, 0), m.lastScroll())
	return m
}

// server is the server that is open; nil where it is not there any more.
func (m model) server() *resource.Server {
	i := slices.IndexFunc(m.shot.servers, func(s *resource.Server) bool { return s.Metadata.Name == m.open })
	if i < 0 {
		return nil
	}
	return m.shot.servers[i]
}
