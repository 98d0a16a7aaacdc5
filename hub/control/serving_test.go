package control

import (
	"slices"
	"testing"
)

// TestServingTable compares the table above servingRule with its rule for every
// combination, and each row must be the first that fits one of them.
func TestServingTable(t *testing.T) {
	rows := table(t, "serving.go", "agent", "its rack names it", "term", "verdict")
	used := map[int]bool{}
	for _, there := range []string{"there", "gone"} {
		for _, named := range []string{"yes", "no"} {
			for _, g := range []given{givenLess, givenSame, givenMore} {
				in := []string{there, named, string(g)}
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
				used[i] = true
				if got := servingRule(there == "there", named == "yes", g); string(got) != rows[i][3] {
					t.Errorf("%v: %s, the table says %s", in, got, rows[i][3])
				}
			}
		}
	}
	for i := range rows {
		if !used[i] {
			t.Errorf("row %v fits nothing", rows[i])
		}
	}
}

// What a name tells is not believed further than it reads back.
func TestServingOfNames(t *testing.T) {
	b, _ := joined(t)
	for name, want := range map[string]serving{
		"r1-1": servingReplaced, "r1-2": servingUnknown, "r1-01": servingUnknown, "r1-0": servingUnknown, "r1": servingUnknown,
		"r2-1": servingUnknown, "-1": servingUnknown, "": servingUnknown, "r1-99999999999999999999": servingUnknown,
	} {
		if got := b.control.servingOfName(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
