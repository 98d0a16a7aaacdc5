package store

import (
	"testing"

	"rackboot/protocol"
	"rackboot/state/badger"
)

// TestEventNumbersAreNotReused: after every event was acknowledged and the agent
// restarted, the hub would take a repeated number for an event that it has filed.
func TestEventNumbersAreNotReused(t *testing.T) {
	dir := t.TempDir()
	last := uint64(0)
	for range 3 {
		db, err := badger.Open(badger.Config{Dir: dir, MinFree: 1})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(Config{DB: db, NewID: func() string { return "id" }})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := s.Append(protocol.Event{Code: protocol.EventStopped}); err != nil {
				t.Fatal(err)
			}
		}
		events, head, err := s.Events(10)
		if err != nil || len(events) != 2 || events[0].Seq <= last || head != events[1].Seq {
			t.Fatalf("events %+v, head %d after %d, %v", events, head, last, err)
		}
		last = head
		if err := s.Acknowledge(last); err != nil {
			t.Fatal(err)
		}
		if err := s.Acknowledge(last); err != nil { // a repeated Sync
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
