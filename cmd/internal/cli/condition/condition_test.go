package condition

import (
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// A condition is hidden until it has lasted, and an unknown one is shown.
func TestVisibleConditions(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	since := func(code resource.ConditionCode, ago time.Duration) resource.ConditionState {
		return resource.ConditionState{Code: code, Since: now.Add(-ago)}
	}
	for _, row := range []struct {
		in   []resource.ConditionState
		want string
	}{
		{nil, ""},
		{[]resource.ConditionState{since(resource.CondArtefactsPending, 29*time.Second)}, ""},
		{[]resource.ConditionState{since(resource.CondArtefactsPending, 30*time.Second)}, "ArtefactsPending"},
		{[]resource.ConditionState{since(resource.CondHeld, 0), since("OfANewerAgent", 0)}, "Held,OfANewerAgent"},
	} {
		if got := Codes(row.in, now); got != row.want {
			t.Errorf("%v: %q, want %q", row.in, got, row.want)
		}
	}
}
