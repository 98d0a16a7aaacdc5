package dhcp6

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// checkTable compares a function with the table in its doc comment for every
// combination of the columns' values; "*" fits anything, the first row that fits
// decides, and each row must decide something.
func checkTable(t *testing.T, file, function string, values [][]string, f func(in []string) string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, d := range parsed.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != function {
			continue
		}
		for line := range strings.Lines(fn.Doc.Text()) {
			var cells []string
			for c := range strings.SplitSeq(line, "|") {
				cells = append(cells, strings.TrimSpace(c))
			}
			if len(cells) > 1 {
				rows = append(rows, cells)
			}
		}
	}
	if len(rows) < 2 || len(rows[0]) != len(values)+1 {
		t.Fatalf("%s: no table of %d columns", function, len(values)+1)
	}
	rows = rows[1:]
	used := make([]bool, len(rows))
	var walk func(in []string)
	walk = func(in []string) {
		if len(in) < len(values) {
			for _, v := range values[len(in)] {
				walk(append(slices.Clone(in), v))
			}
			return
		}
		want := "no row"
		for i, row := range rows {
			fits := true
			for c, v := range in {
				fits = fits && (row[c] == "*" || row[c] == v)
			}
			if fits {
				used[i], want = true, row[len(in)]
				break
			}
		}
		if got := f(in); got != want {
			t.Errorf("%s(%s) = %s, the table says %s", function, strings.Join(in, ", "), got, want)
		}
	}
	walk(nil)
	for i, u := range used {
		if !u {
			t.Errorf("%s: row %d (%s) decides nothing", function, i+1, strings.Join(rows[i], " | "))
		}
	}
}

func texts[T ~string](vs ...T) []string {
	var out []string
	for _, v := range vs {
		out = append(out, string(v))
	}
	return out
}

func yesno() []string { return []string{"yes", "no"} }
