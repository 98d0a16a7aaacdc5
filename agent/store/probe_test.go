package store_test

import (
	"context"
	"testing"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/state/statetest"
)

// A probe writes and reads, heeds its deadline, and says when the store takes nothing.
func TestProbe(t *testing.T) {
	t.Parallel()
	db := statetest.NewMemory()
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	for range 2 {
		if err := store.Probe(t.Context(), db, at); err != nil {
			t.Fatal(err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Probe(ended, db, at); err != nil && protocol.CodeOf(err) != protocol.CodeTimeout {
		t.Errorf("%v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := store.Probe(t.Context(), db, at); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("of a closed store: %v", err)
	}
}
