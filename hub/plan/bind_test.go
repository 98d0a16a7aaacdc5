package plan

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// TestBindTable compares the table above Bind with its rule for every row and
// every combination of inputs.
func TestBindTable(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "bind.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
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
	if len(rows) != 7 || !slices.Equal(rows[0], []string{"by", "taken", "held", "read", "binds"}) {
		t.Fatalf("the table has another shape: %v", rows)
	}
	for _, by := range []string{"name", "selector"} {
		for _, taken := range []string{"yes", "no"} {
			for _, held := range []string{"yes", "no"} {
				for _, read := range []string{"Off", "else"} {
					in := []string{by, taken, held, read}
					i := slices.IndexFunc(rows[1:], func(r []string) bool {
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
					got := "no"
					if binds(by == "name", taken == "yes", held == "yes", read == "Off") {
						got = "yes"
					}
					if want := rows[1+i][4]; got != want {
						t.Errorf("%v: %s, the table says %s", in, got, want)
					}
				}
			}
		}
	}
}
