package storetest_test

import (
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/state"
	"rackboot/state/statetest"
)

// What stands in for the store in tests keeps its contract.
func TestMemory(t *testing.T) {
	statetest.TestKV(t, func(*testing.T) state.KV { return storetest.NewMemory() })
}
