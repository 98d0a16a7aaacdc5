package fleet

import (
	"testing"

	"rackboot/internal/doctable"
)

func TestNextRule(t *testing.T) {
	yesNo := []string{"yes", "no"}
	doctable.Of(t, "server.go", "nextRule").HoldOne(t, [][]string{{"nothing", "stop", "boot"}, yesNo, yesNo, yesNo, {"not", "disk", "network"}}, func(in []string) string {
		under := doing(in[0])
		if under == "nothing" {
			under = doingNothing
		}
		return string(nextRule(under, in[1] == "yes", in[2] == "yes", in[3] == "yes", boots(in[4])))
	})
}
