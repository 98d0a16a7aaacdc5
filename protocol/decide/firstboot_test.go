package decide

import (
	"testing"

	"rackboot/internal/doctable"
)

func TestFirstTable(t *testing.T) {
	doctable.Of(t, "firstboot.go", "firstRule").HoldOne(t, [][]string{
		doctable.Words(methodFits, methodCannot, methodUnknown), doctable.Words(chainFits, chainNone, chainByURI),
		doctable.Words(grantFit, grantMissing, grantUnread, grantOther), doctable.YesNo(),
	}, func(in []string) string {
		return string(firstRule(firstFacts{methodIs(in[0]), chainIs(in[1]), grantIs(in[2]), is(in[3])}))
	})
}

func TestGrantTable(t *testing.T) {
	doctable.Of(t, "firstboot.go", "grantRule").HoldOne(t, [][]string{doctable.YesNo(), {"own", "foreign"}, doctable.YesNo(), {"local", "away"}, {"heard", "unheard"}}, func(in []string) string {
		return string(grantRule(grantFacts{is(in[0]), in[1] == "foreign", is(in[2]), in[3] == "local", in[4] == "heard"}))
	})
}
