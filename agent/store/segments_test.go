package store

import (
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/statetest"
)

// inForce reads the base URL and the BMCs of the one segment that is served.
func (s *Store) inForce(t *testing.T) (url string, bmcs []string) {
	t.Helper()
	o, err := s.Servers.Overview()
	if err != nil || len(o.Rack.Segments) != 1 {
		t.Fatalf("%+v, %v", o.Rack, err)
	}
	return o.Rack.Segments[0].BaseURL, o.Rack.Segments[0].BMCMACs
}

func (s *Store) document(t *testing.T, version uint64, url string, bmcs ...string) {
	t.Helper()
	d := message.RackDoc{Head: protocol.Head{Epoch: 1, Version: version}, Shards: 1, Rack: &message.RackIntent{
		Segments: []resource.SegmentIntent{{Name: "boot-a", BaseURL: url, BMCMACs: bmcs}},
	}}
	if _, _, err := s.Documents.ApplyRack(d, url, nil); err != nil {
		t.Fatal(err)
	}
}

// TestSegmentsOfTheReleaseBefore: what it left in force is confirmed, whether it ran
// before the first trial, or in the middle of one, of which it knew nothing.
func TestSegmentsOfTheReleaseBefore(t *testing.T) {
	for name, tt := range map[string]struct {
		left  string // in force by the release before
		keeps bool   // the trial goes on
	}{
		"the same": {"b", true},
		"another":  {"c", false},
	} {
		db := statetest.NewMemory()
		s, err := Open(Config{DB: db, NewID: func() string { return "id" }})
		if err != nil {
			t.Fatal(err)
		}
		s.document(t, 1, "a")
		s.document(t, 2, "b")
		if err := db.Update(func(t state.Txn) error {
			return put(t, "rack", message.RackIntent{Segments: []resource.SegmentIntent{{Name: "boot-a", BaseURL: tt.left}}})
		}); err != nil {
			t.Fatal(err)
		}
		if s, err = Open(Config{DB: db, NewID: func() string { return "id" }}); err != nil {
			t.Fatal(err)
		}
		have, err := s.Trials.Segments()
		if err != nil || (have.Tried != "") != tt.keeps || !tt.keeps && have.Kept[0].BaseURL != tt.left {
			t.Errorf("%s: %+v, %v", name, have, err)
		}
	}
}

// TestBMCsOfSegments: whose leases BMCs have follows every document, is no change to
// be tried, and survives a roll-back.
func TestBMCsOfSegments(t *testing.T) {
	s, err := Open(Config{DB: statetest.NewMemory(), NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	s.document(t, 1, "a", "m1")
	s.document(t, 2, "a", "m1", "m2")
	if have, err := s.Trials.Segments(); err != nil || have.Tried != "" {
		t.Fatalf("%+v, %v", have, err)
	}
	s.document(t, 3, "b", "m3")
	act, have, _, err := s.Trials.Look(time.Unix(0, 0), decide.TrialWindow, decide.TrialWindow, false)
	if err != nil || act != decide.SegmentsBack || len(have.Differ) != 1 || have.Differ[0] != "boot-a" {
		t.Fatalf("%s, %+v, %v", act, have, err)
	}
	if url, bmcs := s.inForce(t); url != "a" || len(bmcs) != 1 || bmcs[0] != "m3" {
		t.Errorf("after the roll-back %s, %v", url, bmcs)
	}
	s.document(t, 4, "b", "m4")
	if url, bmcs := s.inForce(t); url != "a" || len(bmcs) != 1 || bmcs[0] != "m4" {
		t.Errorf("after the refusal %s, %v", url, bmcs)
	}
	b, err := s.Events.Backlog(10)
	if err != nil || len(b.Events) != 1 || b.Events[0].Code != resource.EventSegmentRolledBack {
		t.Errorf("events %+v, %v", b, err)
	}
}
