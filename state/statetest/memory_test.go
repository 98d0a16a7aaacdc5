package statetest

import (
	"errors"
	"testing"

	"rackboot/state"
)

func TestMemory(t *testing.T) {
	TestStore(t, func(*testing.T) state.Store { return NewMemory() })
}

// A copy is of what was committed, and what was not is lost with the machine.
func TestMemoryCopy(t *testing.T) {
	m := NewMemory()
	must(t, m.Update(set("a", "1")))
	old := m.Copy()
	must(t, m.Update(set("a", "2")))
	err := m.Update(func(x state.Txn) error {
		must(t, x.Set("a", []byte("3")))
		must(t, m.Close()) // it dies before the commit
		return nil
	})
	if !errors.Is(err, state.ErrClosed) {
		t.Errorf("a commit after the end: %v", err)
	}
	want(t, dump(t, old, ""), "a=1")
	want(t, dump(t, m.Copy(), ""), "a=2")
}
