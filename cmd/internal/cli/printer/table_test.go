package printer

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func rowsOf(text string) (rows [][]string) {
	for line := range strings.SplitSeq(text, "\n") {
		rows = append(rows, strings.Split(line, "|"))
	}
	return rows
}

// What a screen has no room for goes in an order: nothing first that somebody would miss.
func TestFit(t *testing.T) {
	columns := []Column{{Name: "NAME"}, {Name: "RACK"}, {Name: "PHASE"}, {Name: "CONDITIONS"}, {Name: "AGE", Spare: true}}
	rows := rowsOf("NAME|RACK|PHASE|CONDITIONS|AGE\nworker-17-12|-|Reserved|BMCUnreachable,MethodMismatch|5d")
	for _, row := range []struct {
		width int
		kept  string
		line  string
	}{
		{80, "[0 1 2 3 4]", "worker-17-12   -      Reserved   BMCUnreachable,MethodMismatch   5d"},
		{60, "[0 2 3 4]", "worker-17-12  Reserved  BMCUnreachable,MethodMismatch  5d"},
		{50, "[0 2 3 4]", "worker-17-12  Reserved  BMCUnreachable,Metho…  5d"},
		{39, "[0 2 3 4]", "worker-17-12  Reserved  BMCUnreac…  5d"},
		{34, "[0 2 3]", "worker-17-12  Reserved  BMCUnreac…"},
		{10, "[0 2 3]", "worker-17-12  Rese…  BMCUnreac…"},
	} {
		kept, out, between := fit(rows, columns, row.width)
		var b strings.Builder
		if err := writeRows(&b, out, between); err != nil {
			t.Fatal(err)
		}
		if line := strings.Split(b.String(), "\n")[1]; fmt.Sprint(kept) != row.kept || line != row.line {
			t.Errorf("%d columns: %v\n got %q\nwant %q", row.width, kept, line, row.line)
		}
	}
}

// Names are never cut, whatever there is beside them and however narrow the screen is, and rows stay rows.
func TestFitKeepsNames(t *testing.T) {
	cell := rapid.StringMatching(`[a-zA-Z-]{1,30}`)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "columns")
		var columns []Column
		heads := make([]string, n)
		for i := range n {
			heads[i] = strings.ToUpper(cell.Draw(t, "head"))
			columns = append(columns, Column{Name: heads[i], Spare: rapid.Bool().Draw(t, "spare")})
		}
		rows := [][]string{heads}
		for range rapid.IntRange(1, 4).Draw(t, "rows") {
			row := make([]string, n)
			for i := range row {
				row[i] = cell.Draw(t, "cell")
			}
			rows = append(rows, row)
		}
		kept, out, _ := fit(rows, columns, rapid.IntRange(1, 120).Draw(t, "width"))
		if len(out) != len(rows) || kept[0] != 0 {
			t.Fatalf("%v of %v", kept, out)
		}
		for i, row := range out {
			if row[0] != rows[i][0] || len(row) != len(kept) {
				t.Errorf("%q became %q", rows[i], row)
			}
		}
	})
}

func TestWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(strings.Fields(rapid.StringMatching(`[a-zäß ]{0,80}`).Draw(t, "text")), " ")
		most := rapid.IntRange(1, 30).Draw(t, "most")
		lines := Wrap(text, most)
		for _, l := range lines {
			if utf8.RuneCountInString(l) > most {
				t.Errorf("%q is longer than %d", l, most)
			}
		}
		if strings.ReplaceAll(strings.Join(lines, ""), " ", "") != strings.ReplaceAll(text, " ", "") {
			t.Errorf("%q became %q", text, lines)
		}
	})
}

// What goes on stands below the last column of its line, where that leaves room for its words.
func TestHung(t *testing.T) {
	for _, row := range []struct {
		line    string
		columns int
		want    string
	}{
		{
			"+2.0s  dhcp  DISCOVER  HTTPClient amd64, 10.7.0.100 -> offer, first boot granted", 50,
			"+2.0s  dhcp  DISCOVER  HTTPClient amd64,\n                       10.7.0.100 -> offer, first\n                       boot granted",
		},
		{"  hint: words that go on and on and do not end here", 30, "  hint: words that go on and\n    on and do not end here"},
		{"a  b  sha256:0123456789012345678901234567890123456789", 50, "a  b\n  sha256:0123456789012345678901234567890123456789"},
		{"Safe stop:           Unknown: whether Secure Boot is on", 42, "Safe stop:           Unknown: whether\n                     Secure Boot is on"},
		{"a line for which there is no room", 12, "a line for which there is no room"},
	} {
		if got := strings.Join(hung(row.line, row.columns), "\n"); got != row.want {
			t.Errorf("%d columns:\n%s\nwant\n%s", row.columns, got, row.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		line, columns := rapid.StringMatching(`[ a-zä]{0,120}`).Draw(t, "line"), rapid.IntRange(40, 90).Draw(t, "columns")
		got := hung(line, columns)
		for _, l := range got {
			if utf8.RuneCountInString(strings.TrimRight(l, " ")) > columns {
				t.Errorf("%q has more than %d columns", l, columns)
			}
		}
		if strings.Join(strings.Fields(strings.Join(got, "")), "") != strings.Join(strings.Fields(line), "") {
			t.Errorf("%q became %q", line, got)
		}
	})
}
