package decide

import (
	"strconv"
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
)

func TestLeaveTable(t *testing.T) {
	doctable.Of(t, "discovery.go", "leaveRule").Hold(t, [][]string{doctable.Words(isOff, isOn, isOther), doctable.YesNo(), doctable.YesNo(), doctable.YesNo()},
		func(in []string) []string {
			return doctable.Words(leaveRule(running(in[0]), in[1] == "yes", in[2] == "yes", in[3] == "yes"))
		})
}

func TestStrangerTable(t *testing.T) {
	windows := map[string]int{"none": 0, "one": 1, "several": 2}
	class := map[string]protocol.ClientClass{"os": protocol.ClassNone, "boot": protocol.ClassPXEClient}
	doctable.Of(t, "stranger.go", "StrangerRule").Hold(t, [][]string{doctable.YesNo(), {"os", "boot"}, {"none", "one", "several"}},
		func(in []string) []string {
			n, ok := windows[in[2]]
			if !ok {
				t.Fatal(strconv.Quote(in[2]))
			}
			return doctable.Words(StrangerRule(in[0] == "yes", class[in[1]], n))
		})
}
