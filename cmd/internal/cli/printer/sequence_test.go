package printer

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// However a list is cut into parts, what is written is what is written of the whole; of a table that is so
// where its first part has the widest cells.
func TestSequenceIsTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		form := rapid.SampledFrom([]string{FormTable, FormWide, FormJSON, FormYAML, FormName}).Draw(t, "form")
		whole := View{Columns: Columns("NAME PHASE", "OS"), NoHeader: rapid.Bool().Draw(t, "bare")}
		for i := range rapid.IntRange(0, 9).Draw(t, "items") {
			text := rapid.StringMatching(`[a-z\[\]{},:é" \n-]{0,12}`).Draw(t, "text")
			cell := strings.Repeat("x", 20)
			if i > 0 {
				cell = cell[:rapid.IntRange(0, 20).Draw(t, "cell")]
			}
			whole.Items = append(whole.Items, Item{
				Name: fmt.Sprintf("server/n%d", i), Cells: []string{fmt.Sprint("n", i), cell, cell},
				Value: map[string]any{"name": text, "list": []string{text}, "none": []string{}},
			})
		}
		var want, got bytes.Buffer
		p := &Printer{Out: &want, Err: &want, Form: form}
		// A table without rows has a heading, which nobody is shown where nothing is there.
		if len(whole.Items) > 0 || !p.Tabular() {
			if err := p.ShowAll(false, whole); err != nil {
				t.Fatal(err)
			}
		}
		p = &Printer{Out: &got, Err: &got, Form: form}
		s, err := p.Sequence()
		if err != nil {
			t.Fatal(err)
		}
		for rest := whole.Items; ; {
			n := rapid.IntRange(0, len(rest)).Draw(t, "part")
			part := whole
			part.Items, rest = rest[:n], rest[n:]
			if err := s.Show(part); err != nil {
				t.Fatal(err)
			}
			if len(rest) == 0 {
				break
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("in parts:\n%s\nthe whole:\n%s", got.String(), want.String())
		}
	})
}

// A column grows with what comes later, as far as the screen has room; else cells are cut, and names never.
func TestLayoutGrows(t *testing.T) {
	for _, row := range []struct {
		name   string
		screen int
		want   string
		widths string
	}{
		{"no screen", 0, "worker-17-12|Reserved by somebody|5d", "[12 20 3]"},
		{"room", 80, "worker-17-12|Reserved by somebody|5d", "[12 20 3]"},
		{"no room", 30, "worker-17-12|Reser…|5d", "[2 6 3]"},
	} {
		l := layout{widths: []int{2, 6, 3}, between: gap, screen: row.screen}
		rows := rowsOf("worker-17-12|Reserved by somebody|5d")
		l.grow(rows)
		if got := strings.Join(rows[0], "|"); got != row.want || fmt.Sprint(l.widths) != row.widths {
			t.Errorf("%s: %q, widths %v", row.name, got, l.widths)
		}
	}
}

func TestOnlyTemplatesNeedTheWhole(t *testing.T) {
	for form, want := range map[string]bool{
		FormTable: true, FormWide: true, FormJSON: true, FormYAML: true, FormName: true,
		"jsonpath={.items}": false, "custom-columns=N:.metadata.name": false, "go-template={{.}}": false,
	} {
		p := &Printer{Form: form}
		if err := p.Check(); err != nil || p.Sequences() != want {
			t.Errorf("%s: %v, %v", form, p.Sequences(), err)
		}
	}
}
