package dhcp

import (
	"testing"

	"rackboot/protocol"
)

func TestRequestRule(t *testing.T) {
	checkTable(t, "reqrule.go", "requestRule", [][]string{
		texts(stateSelecting, stateReboot, stateRenewing),
		texts(placeHere, placeLink, placeOthers, placeMoved, placeOff),
		texts(holdNothing, holdSame, holdOther, holdForeign),
		yesno(),
	}, func(in []string) string {
		out := requestRule(state(in[0]), place(in[1]), holding(in[2]), in[3] == "yes")
		if why(place(in[1]), holding(in[2])) == "" {
			t.Errorf("%v: no text for a NAK", in)
		}
		return string(out)
	})
}

func TestFormRule(t *testing.T) {
	checkTable(t, "bootdata.go", "formRule", [][]string{texts(protocol.AnswerActions()...), texts(protocol.ClientClasses()...), yesno()}, func(in []string) string {
		return string(formRule(protocol.AnswerAction(in[0]), protocol.ClientClass(in[1]), in[2] == "yes"))
	})
}
