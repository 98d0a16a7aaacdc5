package top

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
)

// keyed presses keys; what is one character is typed too.
func keyed(m model, keys ...string) model {
	for _, k := range keys {
		text := ""
		if len(k) == 1 {
			text = k
		}
		m, _ = m.key(press{k, text}, noon())
	}
	return m
}

// words are values with blanks between.
func words(values ...any) string { return strings.TrimSuffix(fmt.Sprintln(values...), "\n") }

func TestKeys(t *testing.T) {
	shown := func(m model) string { return m.rows[m.at()].name }
	for name, row := range map[string]struct {
		keys string
		want func(model) string
		is   string
	}{
		"the worst is first":            {"", shown, "worker-5"},
		"down":                          {"j down", shown, "worker-10"},
		"not above the first":           {"k up", shown, "worker-5"},
		"not below the last":            {"G j", shown, "worker-11"},
		"home":                          {"G g", shown, "worker-5"},
		"a page":                        {"pgdown", shown, "worker-11"},
		"an order keeps what is chosen": {"j s", shown, "worker-7"},
		"racks":                         {"tab", shown, "rack-10"},
		"and back":                      {"tab tab", shown, "worker-5"},
		"the servers of a rack":         {"tab enter", func(m model) string { return words(m.tab, m.rack, len(m.rows)) }, "0 rack-10 1"},
		"and all again":                 {"tab enter esc", func(m model) string { return words(m.rack, len(m.rows)) }, " 9"},
		"a filter":                      {"/ r a c k - 1 enter", func(m model) string { return words(m.filter, m.typing, len(m.rows)) }, "rack-1 false 2"},
		"keys are text in a filter":     {"/ q j s", func(m model) string { return words(m.filter, m.typing, m.order == worstFirst) }, "qjs true true"},
		"a filter taken back":           {"/ x y backspace", func(m model) string { return m.filter }, "x"},
		"a filter given up":             {"/ x esc", func(m model) string { return words(m.filter, m.typing, len(m.rows)) }, " false 9"},
		"a filter that finds nothing":   {"/ @ enter j k enter G", func(m model) string { return words(len(m.rows), m.open) }, "0 "},
		"a server":                      {"j enter", func(m model) string { return m.open }, "worker-7"},
		"and back to it":                {"j enter esc", func(m model) string { return m.open + shown(m) }, "worker-7"},
		"a server does not scroll away": {"enter G j j k g k", func(m model) string { return words(m.scroll) }, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row.want(keyed(newModel(fleet(), 80, 24), strings.Fields(row.keys)...)); got != row.is {
				t.Errorf("%q, want %q", got, row.is)
			}
		})
	}
	for _, k := range []string{"q", "ctrl+c"} {
		if _, quit := newModel(fleet(), 80, 24).key(press{name: k}, noon()); !quit {
			t.Errorf("%s does not end it", k)
		}
	}
	if _, quit := keyed(newModel(fleet(), 80, 24), "/").key(press{name: "ctrl+c"}, noon()); !quit {
		t.Error("ctrl+c does not end it while a filter is typed")
	}
	long := newModel(fleet(), 80, 24)
	long, _ = keyed(long, "/").key(press{text: strings.Repeat("x", 1000) + "\x1b\n"}, noon())
	if len(long.filter) != maxFilter {
		t.Errorf("a filter of %d characters", len(long.filter))
	}
}

// The selected row stays selected, and on the screen, whatever comes before it.
func TestSelectionStays(t *testing.T) {
	m := keyed(newModel(many(500), 80, 24), "s", "G") // by name
	if last := m.rows[m.at()].name; last != "worker-499" || m.first != 500-m.room() {
		t.Fatalf("%s, from row %d", last, m.first)
	}
	less := many(500)
	less.servers = less.servers[100:]
	m = m.take(less, noon())
	if m.rows[m.at()].name != "worker-499" || m.first != 400-m.room() {
		t.Errorf("%s, from row %d", m.rows[m.at()].name, m.first)
	}
	less.servers = less.servers[:5] // and it is gone
	if m = m.take(less, noon()); m.at() != 0 || m.first != 0 {
		t.Errorf("row %d, from row %d", m.at(), m.first)
	}
	less.servers = nil
	if m = m.take(less, noon()); m.at() != 0 || m.first != 0 || len(m.frame(noon(), painter{})) != 24 {
		t.Errorf("row %d, from row %d", m.at(), m.first)
	}
	for lines := range 12 {
		s := m.take(many(500), noon()).to(77).size(80, lines)
		if at := s.at(); s.room() > 0 && (at < s.first || at >= s.first+s.room()) {
			t.Errorf("row %d is not among those from %d on a screen of %d lines", at, s.first, lines)
		}
	}
}

// While it is paused nothing new is shown, and afterwards only the newest.
func TestPause(t *testing.T) {
	m := keyed(newModel(many(10), 80, 24), "p")
	m = m.take(many(20), noon().Add(time.Second)).take(many(30), noon().Add(2*time.Second))
	if len(m.rows) != 10 || !strings.Contains(m.frame(noon(), painter{})[2], "PAUSED") {
		t.Errorf("%d rows: %s", len(m.rows), m.frame(noon(), painter{})[2])
	}
	if m = keyed(m, "p"); len(m.rows) != 30 || strings.Contains(m.frame(noon(), painter{})[2], "PAUSED") {
		t.Errorf("%d rows", len(m.rows))
	}
}

// A lost hub is said with since when, and what is shown is of before. It is over with the next answer.
func TestLostHub(t *testing.T) {
	m := newModel(fleet(), 80, 24)
	m = m.lose(trouble{noon().Add(10 * time.Second), protocol.CodeUnavailable, "connection refused"}).lose(trouble{noon().Add(20 * time.Second), protocol.CodeTimeout, "no answer"})
	late := noon().Add(10 * time.Minute)
	text := strings.Join(m.frame(late, painter{colours: true}), "\n")
	for _, want := range []string{"read 10m ago", "HUB LOST since 12:00:10Z (9m): no answer", "OF 12:00:00Z, NOT OF NOW", "dhcp 2m/5m", "7 failing"} {
		if strings.Contains(text, want) != (want != "7 failing") {
			t.Errorf("%q in\n%s", want, text)
		}
	}
	if rows := strings.Join(m.frame(late, painter{colours: true})[3:], ""); strings.Contains(rows, "\x1b") {
		t.Error("what is not known any more has colours")
	}
	if m = m.hear(heard{late}); !m.trouble.lost() || !m.shot.at.Equal(noon()) {
		t.Error("an answer without news ends the trouble")
	}
	if m = m.take(fleet(), noon()); m.trouble.lost() || strings.Contains(strings.Join(m.frame(noon(), painter{}), "\n"), "NOT OF NOW") {
		t.Error("the hub is back, and nobody says so")
	}
	refused := m.lose(trouble{noon(), protocol.CodeDenied, "the token is not known"})
	if got := refused.frame(noon(), painter{})[1]; !strings.HasPrefix(got, "HUB REFUSES since 12:00:00Z (0s): the token is not known") {
		t.Errorf("%q", got)
	}
}

// What was read of a server that is not open any more is not shown as that of another.
func TestLookIsOfTheOpenServer(t *testing.T) {
	m := keyed(newModel(fleet(), 80, 24), "enter")
	if m = m.look(looked{server: "worker-1", why: "of another"}); m.looked.server != "" {
		t.Errorf("%+v", m.looked)
	}
	m = m.look(looked{server: "worker-5", why: "its agent is silent"})
	if got := strings.Join(m.frame(noon(), painter{}), "\n"); !strings.Contains(got, "Power-on: not known: its agent is silent") {
		t.Error(got)
	}
}
