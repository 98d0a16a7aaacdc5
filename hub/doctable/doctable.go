// Package doctable reads the tables in the comments of rules, for tests that compare rule and table.
package doctable

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// Rows are the rows of the one table in a file's comments, whose first row is head.
func Rows(t testing.TB, file string, head ...string) (rows [][]string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Comments {
		for line := range strings.Lines(c.Text()) {
			if !strings.Contains(line, "|") {
				continue
			}
			var cells []string
			for cell := range strings.SplitSeq(line, "|") {
				cells = append(cells, strings.TrimSpace(cell))
			}
			rows = append(rows, cells)
		}
	}
	if len(rows) < 2 || !slices.Equal(rows[0], head) {
		t.Fatalf("the table has another shape: %v", rows)
	}
	return rows[1:]
}
