package plan

import "testing"

func TestReleaseTable(t *testing.T) {
	rows := tableOf(t, "release.go", "by its owner", "reason", "right to break glass", "outcome")
	word := map[bool]string{true: "yes", false: "no"}
	for _, owner := range []bool{true, false} {
		for _, reason := range []bool{true, false} {
			for _, right := range []bool{true, false} {
				got := string(MayRelease(owner, reason, right))
				if want := rowOf(t, rows, word[owner], word[reason], word[right])[0]; got != want {
					t.Errorf("owner %t, reason %t, right %t: %s, the table says %s", owner, reason, right, got, want)
				}
			}
		}
	}
}
