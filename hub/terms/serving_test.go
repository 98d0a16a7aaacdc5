package terms

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol/resource"
)

func TestServingTable(t *testing.T) {
	doctable.Of(t, "serving.go", "servingRule").HoldOne(t, [][]string{{"there", "gone"}, doctable.Words(namedAgent, namedStandby, namedNot), doctable.Words(givenLess, givenSame, givenMore)},
		func(in []string) string { return string(servingRule(in[0] == "there", namedAs(in[1]), given(in[2]))) })
}

func TestEndingTable(t *testing.T) {
	codes := map[string]resource.ConditionCode{"none": "", "Superseded": resource.CondSuperseded, "Revoked": resource.CondRevoked}
	doctable.Of(t, "ending.go", "worse").HoldOne(t, [][]string{{"none", "Superseded", "Revoked"}, {"Superseded", "Revoked"}}, func(in []string) string {
		if worse(codes[in[0]], codes[in[1]]) {
			return "asked"
		}
		return "before"
	})
}
