package contents

import (
	"testing"

	"go.uber.org/goleak"

	"rackboot/hub/store"
	"rackboot/internal/doctable"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var states = doctable.Words(recordNone, store.ContentComing, store.ContentWhole, store.ContentDamaged, store.ContentGoing)

func TestTables(t *testing.T) {
	yes := func(s string) bool { return s == "yes" }
	doctable.Of(t, "judge.go", "stepFor").HoldOne(t, [][]string{states, doctable.YesNo()}, func(in []string) string {
		return string(stepFor(store.ContentState(in[0]), yes(in[1])))
	})
	stored := states[1:] // there is a record
	doctable.Of(t, "judge.go", "removalOf").HoldOne(t, [][]string{stored, doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		return string(removalOf(store.ContentState(in[0]), yes(in[1]), yes(in[2])))
	})
	doctable.Of(t, "judge.go", "workFor").HoldOne(t, [][]string{doctable.YesNo(), states, doctable.YesNo()}, func(in []string) string {
		return string(workFor(yes(in[0]), store.ContentState(in[1]), yes(in[2])))
	})
}
