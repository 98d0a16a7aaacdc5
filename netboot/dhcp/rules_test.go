package dhcp

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
)

func TestRequestRule(t *testing.T) {
	doctable.Of(t, "reqrule.go", "requestRule").HoldOne(t, [][]string{
		doctable.Words(stateSelecting, stateReboot, stateRenewing),
		doctable.Words(placeHere, placeLink, placeOthers, placeMoved, placeOff),
		doctable.Words(leasing.HoldNothing, leasing.HoldSame, leasing.HoldOther, leasing.HoldForeign),
		doctable.YesNo(),
	}, func(in []string) string {
		out := requestRule(state(in[0]), place(in[1]), leasing.Holding(in[2]), in[3] == "yes")
		if why(place(in[1]), leasing.Holding(in[2])) == "" {
			t.Errorf("%v: no text for a NAK", in)
		}
		return string(out)
	})
}

func TestDeclineRule(t *testing.T) {
	doctable.Of(t, "decline_rule.go", "declineRule").HoldOne(t, [][]string{
		doctable.Words(declinedNone, declinedLate, declinedJust), {"left", "spent"}, doctable.Words(probeFree, probeUsed, probeSkipped),
	}, func(in []string) string { return string(declineRule(declined(in[0]), in[1] == "left", probed(in[2]))) })
}

func TestFormRule(t *testing.T) {
	doctable.Of(t, "bootdata.go", "formRule").HoldOne(t, [][]string{doctable.Words(protocol.AnswerActions()...), doctable.Words(protocol.ClientClasses()...), doctable.YesNo()}, func(in []string) string {
		return string(formRule(protocol.AnswerAction(in[0]), protocol.ClientClass(in[1]), in[2] == "yes"))
	})
}
