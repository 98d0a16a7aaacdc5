package tftp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// commentTable reads the table in the comment of a function: the first row is the
// header.
func commentTable(t *testing.T, file, function string) [][]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != function {
			continue
		}
		var rows [][]string
		for line := range strings.Lines(fn.Doc.Text()) {
			if !strings.Contains(line, "|") {
				continue
			}
			var cells []string
			for c := range strings.SplitSeq(line, "|") {
				cells = append(cells, strings.TrimSpace(c))
			}
			rows = append(rows, cells)
		}
		if len(rows) > 1 {
			return rows[1:]
		}
	}
	t.Fatalf("%s: no table in the comment of %s", file, function)
	return nil
}

// checkTable compares a function with its comment for all combinations of the
// columns' values; the last column is the answer. Each row must decide something.
func checkTable(t *testing.T, rows, values [][]string, f func(in []string) string) {
	t.Helper()
	used := make([]bool, len(rows))
	var walk func(in []string)
	walk = func(in []string) {
		if len(in) < len(values) {
			for _, v := range values[len(in)] {
				walk(append(slices.Clone(in), v))
			}
			return
		}
		i := slices.IndexFunc(rows, func(row []string) bool {
			fits := len(row) == len(in)+1
			for c := range in {
				fits = fits && (row[c] == "*" || row[c] == in[c])
			}
			return fits
		})
		if i < 0 {
			t.Errorf("no row fits %v", in)
			return
		}
		used[i] = true
		if want := rows[i][len(in)]; f(in) != want {
			t.Errorf("%v gives %s, the table says %s", in, f(in), want)
		}
	}
	walk(nil)
	for i, u := range used {
		if !u {
			t.Errorf("row %v decides nothing", rows[i])
		}
	}
}

func yesno() []string { return []string{"yes", "no"} }

func TestAdmitTable(t *testing.T) {
	kinds := []string{string(kindRead), string(kindWrite), string(kindMalformed), string(kindOther)}
	rooms := []string{string(roomFree), string(roomClient), string(roomTotal)}
	checkTable(t, commentTable(t, "admit.go", "admit"), [][]string{kinds, yesno(), yesno(), yesno(), yesno(), rooms}, func(in []string) string {
		return string(admit(kind(in[0]), in[1] == "yes", in[2] == "yes", in[3] == "yes", in[4] == "yes", room(in[5])))
	})
}

func TestEndedTable(t *testing.T) {
	codes := []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}
	checkTable(t, commentTable(t, "result.go", "ended"), [][]string{yesno(), yesno(), codes}, func(in []string) string {
		return string(ended(in[0] == "yes", in[1] == "yes", uint16(in[2][0]-'0')))
	})
}

// TestRefusals: what ends a request at once has an ERROR, what a client should ask
// again for has silence.
func TestRefusals(t *testing.T) {
	for _, row := range []struct {
		o    outcome
		code int // -1 is silence
	}{
		{outcomeServe, -1},
		{outcomeStray, -1},     // RFC 1350 section 7: an ERROR is never answered
		{outcomeRate, -1},      // "later"
		{outcomeRepeated, -1},  // its transfer answers
		{outcomeClient, -1},    // "later": EDK2 asks six times every 4 s
		{outcomeTotal, -1},     // "later"
		{outcomeMalformed, 4},  // RFC 1350: illegal operation
		{outcomeWrite, 2},      // RFC 1350: access violation
		{outcomeMode, 0},       // no code of its own
		{outcomeName, 1},       // shim goes on only after code 1
		{outcome("newer"), -1}, // unknown: nothing
	} {
		b := row.o.refusal()
		if row.code < 0 {
			if b != nil {
				t.Errorf("%s answers % x", row.o, b)
			}
			continue
		}
		if n, ok := number(b); !ok || opcode(b) != opError || int(n) != row.code || b[len(b)-1] != 0 {
			t.Errorf("%s answers % x, want code %d", row.o, b, row.code)
		}
	}
}
