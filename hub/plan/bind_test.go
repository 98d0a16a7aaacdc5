package plan

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// tableOf reads the rows of a file's comment table, which has the given first row.
func tableOf(t *testing.T, file string, head ...string) (rows [][]string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Comments {
		for line := range strings.Lines(c.Text()) {
			if strings.Contains(line, "|") {
				var cells []string
				for cell := range strings.SplitSeq(line, "|") {
					cells = append(cells, strings.TrimSpace(cell))
				}
				rows = append(rows, cells)
			}
		}
	}
	if len(rows) < 2 || !slices.Equal(rows[0], head) {
		t.Fatalf("the table has another shape: %v", rows)
	}
	return rows[1:]
}

// rowOf is what the first row that fits says beyond the inputs.
func rowOf(t *testing.T, rows [][]string, in ...string) []string {
	t.Helper()
	i := slices.IndexFunc(rows, func(r []string) bool {
		for c, v := range in {
			if r[c] != "*" && r[c] != v {
				return false
			}
		}
		return true
	})
	if i < 0 {
		t.Fatalf("no row for %v", in)
	}
	return rows[i][len(in):]
}

// TestBindTable compares the table above Bind with its rule for every row and
// every combination of inputs.
func TestBindTable(t *testing.T) {
	rows := tableOf(t, "bind.go", "by", "taken", "held", "read", "binds")
	for _, by := range []string{"name", "selector"} {
		for _, taken := range []string{"yes", "no"} {
			for _, held := range []string{"yes", "no"} {
				for _, read := range []string{"Off", "else"} {
					got := "no"
					if binds(by == "name", taken == "yes", held == "yes", read == "Off") {
						got = "yes"
					}
					if want := rowOf(t, rows, by, taken, held, read)[0]; got != want {
						t.Errorf("%s, taken %s, held %s, read %s: %s, the table says %s", by, taken, held, read, got, want)
					}
				}
			}
		}
	}
}
