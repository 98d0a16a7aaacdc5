package kinds

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
	"rackboot/protocol/table"
)

// How values are drawn, and what of them is news for a watch.
func TestDrawn(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	at, until, number := now.Add(-3*time.Minute), now.Add(2*time.Minute), int64(-7)
	for _, row := range []struct {
		name      string
		cell      table.Cell
		event     bool
		want, key string
	}{
		{"nothing", table.Cell{}, false, "", ""},
		{"a text", table.Cell{Text: "On"}, false, "On", "On"},
		{"a number", table.Cell{Number: &number}, false, "-7", "-7"},
		{"zero", table.Cell{Number: new(int64(0))}, false, "0", "0"},
		{"an instant", table.Cell{At: &at}, false, "2026-11-20T08:57:00Z", "2026-11-20T08:57:00Z"},
		{"an age", table.Cell{Since: &at}, false, "3m", ""},
		{"the age of an event", table.Cell{Since: &at}, true, "3m", "2026-11-20T08:57:00Z"},
		{"a read", table.Cell{Since: &at, Stale: true}, false, "3m stale", "stale"},
		{"no read", table.Cell{Stale: true}, false, "stale", "stale"},
		{"a wait", table.Cell{Text: "DHCP", Since: &at}, false, "DHCP, for 3m", "DHCP"},
		{"a wait with an end", table.Cell{Text: "DHCP", Since: &at, Until: &until}, false, "DHCP, for 3m of 5m", "DHCP"},
		{"an end without a beginning", table.Cell{Text: "DHCP", Until: &until}, false, "DHCP", "DHCP"},
	} {
		v := Drawn(resource.KindRack, []table.Column{{Name: "A", Event: row.event}}, []table.Row{{Cells: []table.Cell{row.cell}}}, now)
		if it := v.Items[0]; it.Cells[0] != row.want || it.Keys[0] != row.key {
			t.Errorf("%s: %q, key %q", row.name, it.Cells, it.Keys)
		}
	}
}

// What a hub sends for columns and rows is drawn, whatever it is: a tone of a newer hub as what is ordinary, a column
// without a name as one, and nothing that a terminal acts on.
func TestDrawnOfAnyHub(t *testing.T) {
	columns := []table.Column{{Name: "NAME"}, {Name: ""}, {Name: "B\x1b[2J"}}
	row := table.Row{Ref: resource.Ref{Name: "r1"}, Cells: []table.Cell{{Text: "r1"}, {Text: "x\x1b[2Jy", Tone: "splendid"}, {Text: "bad", Tone: table.ToneBad}}}
	v := Drawn(resource.KindRack, columns, []table.Row{row}, time.Now())
	if !slices.Equal(v.Items[0].Tones, []printer.Tone{printer.Plain, printer.Plain, printer.Bad}) || v.Items[0].Name != "rack/r1" {
		t.Errorf("%+v", v.Items[0])
	}
	for _, single := range []bool{false, true} {
		var out strings.Builder
		v.Single = single
		if err := (&printer.Printer{Out: &out, Err: &out, Form: printer.FormTable}).Show(v); err != nil || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%v: %q", err, out.String())
		}
	}
}
