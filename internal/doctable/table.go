package doctable

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// Table is the table in the comment of a function.
type Table struct {
	Name string // of the function
	Head []string
	Rows [][]string
	// Else are the answers where no row fits; nil where every combination needs a row.
	Else func(in []string) []string
}

// Of reads the table of a function or method from a file of the tested package.
func Of(t testing.TB, file, function string) Table {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	tb := Table{Name: function}
	for _, d := range parsed.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == function && tb.Head == nil {
			tb.read(fn.Doc.Text())
		}
	}
	if len(tb.Rows) == 0 {
		t.Fatalf("%s: no table in the comment of %s", file, function)
	}
	for _, row := range tb.Rows {
		if len(row) != len(tb.Head) {
			t.Fatalf("%s: %v has not the columns of %v", function, row, tb.Head)
		}
	}
	return tb
}

func (tb *Table) read(comment string) {
	for line := range strings.Lines(comment) {
		if !strings.Contains(line, "|") {
			continue
		}
		var cells []string
		for c := range strings.SplitSeq(line, "|") {
			cells = append(cells, strings.TrimSpace(c))
		}
		if tb.Head == nil {
			tb.Head = cells
		} else {
			tb.Rows = append(tb.Rows, cells)
		}
	}
}

// Answer is what the first row that fits says beyond the inputs, and its number from 0;
// the number is -1 where none fits.
func (tb Table) Answer(in ...string) (out []string, row int) {
	row = slices.IndexFunc(tb.Rows, func(r []string) bool {
		for c, v := range in {
			if r[c] != "*" && r[c] != v {
				return false
			}
		}
		return true
	})
	if row < 0 {
		return nil, row
	}
	return tb.Rows[row][len(in):], row
}

// Hold compares the function with its table for every combination of the columns'
// values, by what f answers to them; the other columns are the answers. Every row must
// decide one combination, so that none misleads a reader.
func (tb Table) Hold(t testing.TB, values [][]string, f func(in []string) []string) {
	t.Helper()
	if len(values) >= len(tb.Head) {
		t.Fatalf("%s: %d columns, which have %d inputs", tb.Name, len(tb.Head), len(values))
	}
	used := make([]bool, len(tb.Rows))
	var walk func(in []string)
	walk = func(in []string) {
		if len(in) < len(values) {
			for _, v := range values[len(in)] {
				walk(append(slices.Clone(in), v))
			}
			return
		}
		want, row := tb.Answer(in...)
		switch {
		case row >= 0:
			used[row] = true
		case tb.Else != nil:
			want = tb.Else(in)
		}
		if got := f(in); want == nil || !slices.Equal(got, want) {
			t.Errorf("%s(%s) = %v, the table says %v", tb.Name, strings.Join(in, ", "), got, want)
		}
	}
	walk(nil)
	for i, u := range used {
		if !u {
			t.Errorf("%s: row %d (%s) decides nothing", tb.Name, i+1, strings.Join(tb.Rows[i], " | "))
		}
	}
}

// HoldOne is Hold where the last column is the answer.
func (tb Table) HoldOne(t testing.TB, values [][]string, f func(in []string) string) {
	t.Helper()
	tb.Hold(t, values, func(in []string) []string { return []string{f(in)} })
}

// Words are the values of a column.
func Words[T ~string](vs ...T) []string {
	var out []string
	for _, v := range vs {
		out = append(out, string(v))
	}
	return out
}

// YesNo are the values of a column that is a bool.
func YesNo() []string { return []string{"yes", "no"} }
