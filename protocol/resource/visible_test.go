package resource

import (
	"testing"
	"time"
)

// A condition is hidden until it has lasted, and an unknown one is shown.
func TestVisibleConditions(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	since := func(code ConditionCode, ago time.Duration) ConditionState {
		return ConditionState{Code: code, Since: now.Add(-ago)}
	}
	for _, row := range []struct {
		in   []ConditionState
		want string
	}{
		{nil, ""},
		{[]ConditionState{since(CondArtefactsPending, 29*time.Second)}, ""},
		{[]ConditionState{since(CondArtefactsPending, 30*time.Second)}, "ArtefactsPending"},
		{[]ConditionState{since(CondHeld, 0), since("OfANewerAgent", 0)}, "Held,OfANewerAgent"},
	} {
		if got := ConditionCodes(row.in, now); got != row.want {
			t.Errorf("%v: %q, want %q", row.in, got, row.want)
		}
	}
}
