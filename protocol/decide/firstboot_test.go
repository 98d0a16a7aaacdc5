package decide

import (
	"testing"

	"rackboot/internal/doctable"
)

func TestFirstTable(t *testing.T) {
	doctable.Of(t, "firstboot.go", "firstRule").HoldOne(t, [][]string{
		doctable.Words(methodFits, methodCannot, methodAbsent, methodOff, methodNoURI, methodUnknown), doctable.Words(chainFits, chainNone, chainByURI),
		doctable.Words(needsNothing, needsEvidence, needsSecrets), doctable.Words(grantFit, grantMissing, grantUnread, grantOther), doctable.YesNo(),
	}, func(in []string) string {
		return string(firstRule(firstFacts{method: methodIs(in[0]), chain: chainIs(in[1]), lacks: needs(in[2]), grant: grantIs(in[3]), kept: is(in[4])}))
	})
}

func TestGrantTable(t *testing.T) {
	doctable.Of(t, "firstboot.go", "grantRule").HoldOne(t, [][]string{doctable.YesNo(), {"own", "foreign"}, doctable.YesNo(), {"local", "away"}, {"heard", "unheard"}}, func(in []string) string {
		return string(grantRule(grantFacts{is(in[0]), in[1] == "foreign", is(in[2]), in[3] == "local", in[4] == "heard"}))
	})
}
