package resource_test

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestLimitOfTable(t *testing.T) {
	doctable.Of(t, "holdlimit.go", "LimitOf").HoldOne(t, [][]string{{"yes", "no", ""}, {"yes", "no", ""}, {"yes", "no"}}, func(in []string) string {
		offers := protocol.Offers{ForceOff: protocol.Offer(in[0]), GracefulShutdown: protocol.Offer(in[1])}
		if l := resource.LimitOf(offers, in[2] == "yes"); l != "" {
			return string(l)
		}
		return "nothing"
	})
	for _, l := range resource.HoldLimits() {
		if l.Words() == string(l) {
			t.Errorf("%s has no words", l)
		}
	}
}
