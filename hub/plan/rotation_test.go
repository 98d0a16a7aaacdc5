package plan

import (
	"testing"

	"rackboot/protocol/resource"
)

// TestRotateTable compares the table above Rotate with it for every combination.
func TestRotateTable(t *testing.T) {
	rows := tableOf(t, "rotation.go", "state", "report", "change", "newest", "verdict")
	word := map[bool]string{true: "yes", false: "no"}
	for _, state := range resource.RotationStates() {
		for _, report := range append(resource.AccountStates(), "none") {
			for _, change := range []bool{true, false} {
				for _, newest := range []bool{true, false} {
					got := string(Rotate(state, report, change, newest))
					if want := rowOf(t, rows, string(state), string(report), word[change], word[newest])[0]; got != want {
						t.Errorf("%s, %s, change %t, newest %t: %s, the table says %s", state, report, change, newest, got, want)
					}
				}
			}
		}
	}
}
