package redfish

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
)

func TestTaskTable(t *testing.T) {
	states := []string{"New", "Starting", "Running", "Suspended", "Pending", "Stopping", "Completed", "Killed", "Exception", "Cancelled", "Interrupted", "absent"}
	doctable.Of(t, "task.go", "taskRule").HoldOne(t, [][]string{states, {"OK", "Warning", "Critical", "absent"}}, func(in []string) string {
		for i := range in {
			if in[i] == "absent" {
				in[i] = ""
			}
		}
		return string(taskRule(in[0], in[1]))
	})
}

func TestFitsTable(t *testing.T) {
	all := doctable.Words(likeSame, likeOther, likeOpen)
	doctable.Of(t, "likeness.go", "fitsRule").HoldOne(t, [][]string{all, all}, func(in []string) string {
		if fitsRule(likeness(in[0]), likeness(in[1])) {
			return "yes"
		}
		return "no"
	})
}

func TestBlindTargetTable(t *testing.T) {
	doctable.Of(t, "blindtarget.go", "blindTarget").HoldOne(t, [][]string{append(doctable.Words(protocol.FaultKinds()...), ""), doctable.YesNo()}, func(in []string) string {
		learned := map[string]string{"yes": "/learned"}[in[1]]
		switch at := blindTarget(protocol.FaultKind(in[0]), learned, "/redfish/v1/Systems/1/"); at {
		case "":
			return "nowhere"
		case "/learned":
			return "learned"
		case "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset":
			return "conventional"
		default:
			return at
		}
	})
}
