package terms

import (
	"rackboot/hub/doctable"
	"rackboot/protocol"
	"slices"
	"testing"
)

// TestServingTable compares the table above servingRule with its rule for every
// combination, and each row must be the first that fits one of them.
func TestServingTable(t *testing.T) {
	rows := doctable.Rows(t, "serving.go", "agent", "its rack names it", "term", "verdict")
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

// The table above worse is what it does.
func TestEndingTable(t *testing.T) {
	for before, name := range map[protocol.ConditionCode]string{"": "none", protocol.CondSuperseded: "Superseded", protocol.CondRevoked: "Revoked"} {
		for _, asked := range []protocol.ConditionCode{protocol.CondSuperseded, protocol.CondRevoked} {
			rows := doctable.Rows(t, "ending.go", "before", "asked", "stays")
			row := slices.IndexFunc(rows, func(r []string) bool { return (r[0] == "*" || r[0] == name) && (r[1] == "*" || r[1] == string(asked)) })
			want := rows[row][2]
			if got := worse(before, asked); got != (want == "asked") {
				t.Errorf("%s, then %s: the table says %s stays", name, asked, want)
			}
		}
	}
}
