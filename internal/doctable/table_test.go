package doctable

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// lighter says whether a thing is carried.
//
//	heavy | asked | answer
//	yes   | *     | no
//	no    | yes   | yes
//	no    | no    | no
func lighter(heavy, asked bool) bool { return !heavy && asked }

// failures is a test that only notes what was found.
type failures struct {
	testing.TB
	all []string
}

func (f *failures) Helper()                        {}
func (f *failures) Errorf(format string, a ...any) { f.all = append(f.all, fmt.Sprintf(format, a...)) }

func answers(in []string) string {
	if lighter(in[0] == "yes", in[1] == "yes") {
		return "yes"
	}
	return "no"
}

// A wrong answer, a row that decides nothing and a combination without a row are found.
func TestHold(t *testing.T) {
	values := [][]string{YesNo(), YesNo()}
	Of(t, "table_test.go", "lighter").HoldOne(t, values, answers)
	for name, row := range map[string]struct {
		change func(*Table)
		f      func(in []string) string
		want   string
	}{
		"a wrong answer":      {func(*Table) {}, func([]string) string { return "no" }, "lighter(no, yes) = [no], the table says [yes]"},
		"a row after its own": {func(tb *Table) { tb.Rows = append(tb.Rows, tb.Rows[0]) }, answers, "row 4 (yes | * | no) decides nothing"},
		"a row is missing":    {func(tb *Table) { tb.Rows = tb.Rows[:2] }, answers, "lighter(no, no) = [no], the table says []"},
	} {
		tb := Of(t, "table_test.go", "lighter")
		row.change(&tb)
		got := &failures{TB: t}
		tb.HoldOne(got, values, row.f)
		if !slices.ContainsFunc(got.all, func(s string) bool { return strings.Contains(s, row.want) }) {
			t.Errorf("%s: %q", name, got.all)
		}
	}
	tb := Of(t, "table_test.go", "lighter")
	tb.Rows, tb.Else = tb.Rows[:2], func([]string) []string { return []string{"no"} }
	tb.HoldOne(t, values, answers)
}
