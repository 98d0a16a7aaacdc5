package store

import (
	"errors"
	"fmt"
	"testing"

	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/badger"
)

// opened is a store over a folder; ids count up.
func opened(t *testing.T, dir string) (*Store, *badger.Store) {
	t.Helper()
	db, err := badger.Open(badger.Config{Dir: dir, MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	ids := 0
	s, err := Open(Config{DB: db, NewID: func() string { ids++; return fmt.Sprintf("id-%d", ids) }})
	if err != nil {
		t.Fatal(err)
	}
	return s, db
}

func (s *Store) happen(t *testing.T, n int) {
	t.Helper()
	for range n {
		if err := s.Events.Append(resource.Event{Code: resource.EventStopped}); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *Store) backlog(t *testing.T, limit int) Backlog {
	t.Helper()
	b, err := s.Events.Backlog(limit)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestEventNumbersAreNotReused: after every event was acknowledged and the agent
// restarted, the hub would take a repeated number for an event that it has filed.
func TestEventNumbersAreNotReused(t *testing.T) {
	dir := t.TempDir()
	for run := range uint64(3) {
		s, db := opened(t, dir)
		s.happen(t, 2)
		b := s.backlog(t, 10)
		if b.Head != 2*run+2 || b.Tail != 2*run+1 || len(b.Events) != 2 || b.Events[0].Seq != b.Tail {
			t.Fatalf("run %d: %+v", run, b)
		}
		for range 2 { // a repeated Sync
			if err := s.Events.Acknowledge(b.Head); err != nil {
				t.Fatal(err)
			}
		}
		if b := s.backlog(t, 10); b.Tail != 0 || len(b.Events) != 0 || b.Head != 2*run+2 {
			t.Fatalf("run %d, acknowledged: %+v", run, b)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoHoles: a transaction that is given up uses no number.
func TestNoHoles(t *testing.T) {
	s, db := opened(t, t.TempDir())
	s.happen(t, 1)
	aborted := errors.New("aborted")
	err := db.Update(func(x state.Txn) error {
		if err := s.Events.append(x, resource.Event{Code: resource.EventStopped}); err != nil {
			return err
		}
		return aborted
	})
	if !errors.Is(err, aborted) {
		t.Fatal(err)
	}
	s.happen(t, 1)
	if b := s.backlog(t, 10); b.Head != 2 || len(b.Events) != 2 || b.Events[1].Seq != 2 {
		t.Errorf("%+v", b)
	}
}

// TestLostEvents: one record stands for all that were lost, grows as more are, and
// comes first; an acknowledgement forgets it like an event.
func TestLostEvents(t *testing.T) {
	s, _ := opened(t, t.TempDir())
	s.Events.most = 5
	s.happen(t, 3)
	if err := s.Events.Acknowledge(1); err != nil {
		t.Fatal(err)
	}
	check := func(from, lost uint64) {
		t.Helper()
		b := s.backlog(t, 100)
		g := b.Events[0]
		if g.Code != resource.EventLost || g.From != from || g.Seq != lost || b.Tail != from || len(b.Events) != 6 ||
			g.Message != fmt.Sprintf("%d events were lost", lost-from+1) {
			t.Fatalf("want %d to %d lost: %+v", from, lost, b)
		}
		for i, e := range b.Events[1:] {
			if e.Seq != lost+1+uint64(i) || e.Code != resource.EventStopped {
				t.Errorf("event %+v", e)
			}
		}
	}
	s.happen(t, 3) // 2 to 6: as many as there is room for
	if b := s.backlog(t, 100); len(b.Events) != 5 || b.Events[0].Code == resource.EventLost {
		t.Fatalf("%+v", b)
	}
	s.happen(t, 1)
	check(2, 2)
	s.happen(t, 4)
	check(2, 6)
	if err := s.Events.Acknowledge(7); err != nil {
		t.Fatal(err)
	}
	if b := s.backlog(t, 100); b.Tail != 8 || len(b.Events) != 4 {
		t.Fatalf("%+v", b)
	}
	s.happen(t, 2)
	check(8, 8)
}
