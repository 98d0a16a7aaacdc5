package revisions

import (
	"testing"

	"rackboot/internal/doctable"
)

func TestTurnTable(t *testing.T) {
	yn, yes := doctable.YesNo(), map[bool]string{true: "yes", false: "no"}
	doctable.Of(t, "take.go", "turnRule").HoldOne(t, [][]string{yn, yn, yn, yn}, func(in []string) string {
		return yes[turnRule(in[0] == "yes", in[1] == "yes", in[2] == "yes", in[3] == "yes")]
	})
}
