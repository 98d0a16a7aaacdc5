package plan

import "testing"

// TestSealTable compares the table above Seal with it for every combination.
func TestSealTable(t *testing.T) {
	rows := tableOf(t, "seal.go", "agent", "key", "sealed", "verdict")
	word := map[bool]string{true: "yes", false: "no"}
	for _, agent := range []bool{true, false} {
		for _, key := range []bool{true, false} {
			for _, have := range []Sealed{SealedNone, SealedOlder, SealedPresent} {
				got := string(Seal(agent, key, have))
				if want := rowOf(t, rows, word[agent], word[key], string(have))[0]; got != want {
					t.Errorf("agent %t, key %t, sealed %s: %s, the table says %s", agent, key, have, got, want)
				}
			}
		}
	}
}
