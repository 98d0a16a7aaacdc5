package plan

import "testing"

func TestReleaseWaitsTable(t *testing.T) {
	rows := tableOf(t, "releasewait.go", "shall be On", "the agent was told", "outcome")
	word := map[bool]string{true: "yes", false: "no"}
	outcome := map[bool]string{true: "waits", false: "goes"}
	for _, on := range []bool{true, false} {
		for _, told := range []Told{ToldUnknown, ToldOn, ToldOff} {
			if got, want := outcome[ReleaseWaits(on, told)], rowOf(t, rows, word[on], string(told))[0]; got != want {
				t.Errorf("on %t, told %s: %s, the table says %s", on, told, got, want)
			}
		}
	}
}

func TestHoldWaitsTable(t *testing.T) {
	rows := tableOf(t, "holdwait.go", "firmware work", "forced", "the agent knows of it", "outcome")
	word := map[bool]string{true: "yes", false: "no"}
	outcome := map[bool]string{true: "waits", false: "goes"}
	for _, work := range []bool{true, false} {
		for _, forced := range []bool{true, false} {
			for _, known := range []bool{true, false} {
				if got, want := outcome[HoldWaits(work, forced, known)], rowOf(t, rows, word[work], word[forced], word[known])[0]; got != want {
					t.Errorf("work %t, forced %t, known %t: %s, the table says %s", work, forced, known, got, want)
				}
			}
		}
	}
}
