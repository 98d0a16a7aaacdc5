package plan

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestAccountTroubleTable(t *testing.T) {
	doctable.Of(t, "bmctrouble.go", "AccountTrouble").HoldOne(t, [][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		one, two := &resource.ServerReport{Server: "n1"}, &resource.ServerReport{Server: "n2"}
		one.Observation.Power, two.Observation.Power = protocol.PowerUnreachable, protocol.PowerUnknown
		two.Conditions = []resource.ConditionState{{Code: resource.CondHeld}}
		if in[0] == "yes" {
			one.Conditions = []resource.ConditionState{{Code: resource.CondBMCDenied, Message: "refused"}}
			two.Conditions = append(two.Conditions, one.Conditions...)
		}
		if in[1] == "yes" {
			two.Observation.Power = protocol.PowerOff
		}
		reading := resource.ConditionState{}
		if in[2] == "yes" {
			reading = resource.ConditionState{Code: resource.CondBMCCredentials, Message: "no file"}
		}
		switch got := AccountTrouble([]*resource.ServerReport{nil, one, two}, reading); {
		case len(got) == 0:
			return "nothing"
		case len(got) == 1 && got[0] == reading:
			return "the reading's"
		case len(got) == 1 && got[0].Code == resource.CondBMCDenied && got[0].Message == "server n1: refused":
			return "theirs"
		default:
			t.Errorf("%v: %+v", in, got)
			return ""
		}
	})
	// What is no trouble of the account stays what the reading says elsewhere.
	if got := AccountTrouble(nil, resource.ConditionState{Code: resource.CondBMCBusy}); got != nil {
		t.Errorf("%+v", got)
	}
}
