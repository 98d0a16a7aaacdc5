package members

import (
	"testing"

	"rackboot/internal/doctable"
)

func TestRenewTable(t *testing.T) {
	doctable.Of(t, "renew.go", "mayRenew").HoldOne(t, [][]string{
		doctable.YesNo(), doctable.YesNo(), doctable.Words(shownOwn, shownOther, shownNone), doctable.Words(lifeEarly, lifeValid, lifeEnded, lifeLapsed),
	}, func(in []string) string {
		return mayRenew(in[0] == "yes", in[1] == "yes", presented(in[2]), life(in[3]))
	})
}
