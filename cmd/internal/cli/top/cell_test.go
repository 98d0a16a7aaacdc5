package top

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// hostile are texts that a terminal would act on, or that are not as wide as they are long.
func hostile() []string {
	return []string{
		"\x1b[2J\x1b[31mred\x1b]0;title\x07", "\u009b31mred", "a\nb\r\tc", "\u202egnirts", "服务器服务器服务器服务器服务器服务器服务器", "e" + strings.Repeat("\u0301", 500) + "nd",
		"👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", strings.Repeat("long-", 60), "", "\xff\xfe", "\x00",
	}
}

func TestCellsFit(t *testing.T) {
	for _, text := range hostile() {
		for width := range 30 {
			got := (cell{text: text, short: text[:len(text)/2]}).fit(width)
			if n := ansi.StringWidth(got); n != width {
				t.Errorf("%q in %d columns takes %d: %q", text, width, n, got)
			}
			if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r >= 0x7f && r <= 0x9f || r == '\u202e' }) {
				t.Errorf("a terminal would act on %q", got)
			}
		}
	}
}

func TestServerCells(t *testing.T) {
	s := fleet()
	held := holdsOf(s)
	at := map[string]int{}
	for i, c := range serverColumns() {
		at[c.name] = i
	}
	for _, row := range []struct {
		server, column, want string
		tone                 printer.Tone
	}{
		{"worker-1", "POWER", "On", printer.Plain},
		{"worker-1", "HOLDS", "-", printer.Plain},
		{"worker-1", "CONDITION", "-", printer.Plain},
		{"worker-1", "READ", "7s", printer.Plain},
		{"worker-2", "STAGE", "PowerRequested#1", printer.Busy},
		{"worker-2", "AWAITS", "dhcp 2m/5m", printer.Busy},
		{"worker-3", "HOLDS", "1 Fenced", printer.Good},
		{"worker-4", "HOLDS", "2 Forcing", printer.Busy},
		{"worker-5", "HOLDS", "1 Violated", printer.Bad},
		{"worker-6", "POWER", "stale", printer.Bad},
		{"worker-6", "READ", "3m stale", printer.Bad},
		{"worker-6", "RACK", "rack-10", printer.Plain},
		{"worker-7", "STAGE", "Failed#12", printer.Bad},
		{"worker-7", "AWAITS", "next-try 90s/60s", printer.Bad},
		{"worker-10", "PHASE", "Error", printer.Bad},
		{"worker-10", "NAME", "worker-10", printer.Bad},
		{"worker-11", "POWER", "-", printer.Plain},
		{"worker-11", "STAGE", "-", printer.Plain},
		{"worker-11", "READ", "-", printer.Plain},
	} {
		for _, o := range s.servers {
			if o.Metadata.Name != row.server {
				continue
			}
			cells := serverCells(o, s.places.Of(o), held[row.server], noon(), false)
			if c := cells[at[row.column]]; c.text != row.want || c.tone != row.tone {
				t.Errorf("%s %s: %q in tone %d, want %q in %d", row.server, row.column, c.text, c.tone, row.want, row.tone)
			}
			if len(cells) != len(at) {
				t.Errorf("%d cells in %d columns", len(cells), len(at))
			}
		}
	}
}

// Holds that only the agent has are shown too, each once.
func TestHoldsOfAgents(t *testing.T) {
	s := fleet()
	s.servers[2].Status.Report.Holds = []resource.HoldReport{{ID: "h1", Word: resource.HoldFenced}, {ID: "at-the-agent", Word: resource.HoldEnforced}, {ID: "gone", Word: resource.HoldReleased}}
	got := holdsOf(s)["worker-3"]
	if len(got) != 2 || got[0] != resource.StateFenced || got[1] != resource.StateEnforced {
		t.Errorf("%q", got)
	}
}

func TestRackCells(t *testing.T) {
	s := fleet()
	want := map[string]string{
		"rack-2":  "rack-2 heard 4s 7 6 3 3 - - agent-2 -",
		"rack-10": "rack-10 silent 3m 1 0 0 0 power-work Dark agent-10 -",
		"rack-11": "rack-11 no_agent - 1 0 0 0 - - - -",
	}
	for _, r := range rackRows(s, noon()) {
		var texts []string
		for _, c := range r.cells(noon()) {
			texts = append(texts, strings.ReplaceAll(c.text, " ", "_"))
		}
		if got := strings.Join(texts, " "); got != want[r.name] {
			t.Errorf("%s, want %s", got, want[r.name])
		}
		if len(texts) != len(rackColumns()) {
			t.Errorf("%d cells in %d columns", len(texts), len(rackColumns()))
		}
	}
	if n := silentRacks(s); n != 2 {
		t.Errorf("%d racks are silent", n)
	}
}

// Columns take no more than the screen, have their least width at 80 columns, and grow no further than they say.
func TestWidths(t *testing.T) {
	for _, columns := range [][]column{serverColumns(), rackColumns()} {
		for screen := 80; screen <= 300; screen++ {
			total := 0
			for i, w := range widths(columns, screen) {
				if c := columns[i]; w != 0 && (w < c.least || w > c.most) || (w == 0) != (c.from > screen) {
					t.Errorf("%s has %d columns of %d", c.name, w, screen)
				}
				if w > 0 {
					total += w + 1
				}
			}
			if total > screen {
				t.Errorf("%d columns on a screen of %d", total, screen)
			}
		}
	}
}

// What is waited for without an end has none on the screen.
func TestAwaitsWithoutAnEnd(t *testing.T) {
	o := server("n1", "s", func(o *resource.Server) {
		o.Status.Report.Awaits = &resource.Wait{For: resource.WaitReport, Since: *ago(12 * time.Minute), Report: protocol.EvidenceInstalled}
	})
	if c := awaitsCell(o, noon()); c.text != "report 12m" || c.tone != printer.Busy {
		t.Errorf("%q in tone %d", c.text, c.tone)
	}
}
