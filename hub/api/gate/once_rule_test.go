package gate

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// The table above onceRule says what the code does, for all combinations.
func TestOnceTable(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "once.go", nil, parser.ParseComments)
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
	word, used := map[bool]string{true: "yes", false: "no"}, map[int]bool{}
	for n := range 16 {
		in := [4]bool{n&1 != 0, n&2 != 0, n&4 != 0, n&8 != 0}
		got, want := string(onceRule(in[0], in[1], in[2], in[3])), "no row"
		for i, row := range rows[1:] {
			fits := true
			for c, v := range in {
				fits = fits && (row[c] == "*" || row[c] == word[v])
			}
			if fits {
				want, used[i] = row[4], true
				break
			}
		}
		if got != want {
			t.Errorf("%v: %s, the table says %s", in, got, want)
		}
	}
	if len(used) != 5 || len(rows) != 6 {
		t.Errorf("%d rows of %d decide", len(used), len(rows)-1)
	}
}
