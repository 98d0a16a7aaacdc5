package decide

import (
	"testing"

	"rackboot/internal/doctable"
)

func TestSyncGuardingTable(t *testing.T) {
	doctable.Of(t, "syncguard.go", "SyncGuarding").HoldOne(t, [][]string{doctable.Words(SyncActions()...), doctable.YesNo()},
		func(in []string) string { return string(SyncGuarding(SyncAction(in[0]), in[1] == "yes")) })
}
