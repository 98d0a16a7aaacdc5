package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

var tombstoneStart = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// lying is a hold as a document of the hub names it.
func lying(id string) resource.ActiveHold {
	return resource.ActiveHold{ID: id, HoldSpec: resource.HoldSpec{Server: "n1", Owner: "o", HoldTerms: resource.HoldTerms{Key: id, Mode: resource.StopSoft}}}
}

// told applies the next version of the hold document.
func (s *Store) told(t *testing.T, version uint64, after time.Duration, holds []resource.ActiveHold, releases ...resource.Release) {
	t.Helper()
	d := message.HoldDoc{Head: protocol.Head{Version: version}, IssuedAt: tombstoneStart.Add(after), Holds: holds, Releases: releases}
	if _, _, err := s.Documents.ApplyHolds(tombstoneStart.Add(after), d, string(rune('a'+version))); err != nil {
		t.Fatal(err)
	}
}

// endHere releases a hold of n1 at the agent.
func (s *Store) endHere(t *testing.T, id string) {
	t.Helper()
	if err := s.disk.db.Update(func(tx state.Txn) error {
		return s.Local.release(tx, tombstoneStart, decide.Hold{ActiveHold: lying(id)}, "ann", "it burns")
	}); err != nil {
		t.Fatal(err)
	}
}

// placeHere places a hold on n1 at the agent.
func (s *Store) placeHere(t *testing.T, id string) {
	t.Helper()
	if err := s.disk.db.Update(func(tx state.Txn) error {
		return put(tx, "hold/n1/"+id, decide.Hold{ActiveHold: lying(id), EnforcedAt: tombstoneStart, Local: true})
	}); err != nil {
		t.Fatal(err)
	}
}

// wantHolds compares what lies and what is reported as released.
func (s *Store) wantHolds(t *testing.T, lie, released []string) {
	t.Helper()
	v, err := s.Servers.View("n1")
	if err != nil {
		t.Fatal(err)
	}
	var have, gone []string
	for _, h := range v.Holds {
		have = append(have, h.ID)
	}
	for _, r := range v.Released {
		gone = append(gone, r.HoldID)
	}
	if !slices.Equal(have, lie) || !slices.Equal(gone, released) {
		t.Fatalf("lying %v, released %v; want %v and %v", have, gone, lie, released)
	}
}

// TestTombstones walks the rows of bury.
func TestTombstones(t *testing.T) {
	a, both := []resource.ActiveHold{lying("a")}, []resource.ActiveHold{lying("a"), lying("b")}
	for name, play := range map[string]func(t *testing.T, s *Store){
		"a document that still names it": func(t *testing.T, s *Store) {
			s.told(t, 1, 0, both)
			s.endHere(t, "a")
			s.endHere(t, "a") // again is the same
			s.wantHolds(t, []string{"b"}, []string{"a"})
			s.told(t, 2, 2*time.Hour, both)
			s.wantHolds(t, []string{"b"}, []string{"a"})
			s.told(t, 3, 3*time.Hour, both[1:])
			s.wantHolds(t, []string{"b"}, nil)
		},
		"a document that releases it": func(t *testing.T, s *Store) {
			s.told(t, 1, 0, a)
			s.endHere(t, "a")
			s.told(t, 2, 0, nil, resource.Release{HoldID: "a", Server: "n1"})
			s.wantHolds(t, nil, nil)
		},
		"placed here, and a report of it on its way": func(t *testing.T, s *Store) {
			s.placeHere(t, "a")
			s.endHere(t, "a")
			s.told(t, 1, time.Minute, nil)
			s.wantHolds(t, nil, []string{"a"})
			s.told(t, 2, 2*time.Minute, a) // adopted
			s.wantHolds(t, nil, []string{"a"})
			s.told(t, 3, 3*time.Minute, nil)
			s.wantHolds(t, nil, nil)
		},
		"placed here, and the hub never heard of it": func(t *testing.T, s *Store) {
			s.placeHere(t, "a")
			s.endHere(t, "a")
			s.told(t, 1, adoptWithin, nil)
			s.wantHolds(t, nil, []string{"a"})
			s.told(t, 2, adoptWithin+time.Second, nil)
			s.wantHolds(t, nil, nil)
		},
		"missing from the document": func(t *testing.T, s *Store) {
			s.told(t, 1, 0, a)
			s.told(t, 2, 0, nil)
			s.endHere(t, "a")
			s.told(t, 3, time.Minute, nil)
			s.wantHolds(t, nil, []string{"a"})
		},
		"placed here and adopted": func(t *testing.T, s *Store) {
			s.placeHere(t, "a")
			s.told(t, 1, 0, nil)
			s.wantHolds(t, []string{"a"}, nil)
			s.told(t, 2, 0, a)
			s.endHere(t, "a")
			s.told(t, 3, 0, nil)
			s.wantHolds(t, nil, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := opened(t, t.TempDir())
			play(t, s)
		})
	}
}

// TestTombstonesAreBounded: what no document has named goes oldest first.
func TestTombstonesAreBounded(t *testing.T) {
	s, _ := opened(t, t.TempDir())
	s.told(t, 1, 0, []resource.ActiveHold{lying("z")})
	s.endHere(t, "z")
	err := s.disk.db.Update(func(tx state.Txn) error {
		dead := func(i int) resource.Release {
			return resource.Release{HoldID: fmt.Sprintf("u-%03d", i), Server: "n1", At: tombstoneStart.Add(time.Duration(i) * time.Second)}
		}
		for i := range maxUnnamed + 2 {
			if err := put(tx, tombstoneKey(dead(i).HoldID), tombstone{Release: dead(i)}); err != nil {
				return err
			}
		}
		last := dead(maxUnnamed + 2)
		h := decide.Hold{ActiveHold: lying(last.HoldID), Local: true}
		if err := put(tx, "hold/n1/"+h.ID, h); err != nil {
			return err
		}
		return s.Local.release(tx, last.At, h, "ann", "")
	})
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.Servers.View("n1")
	if err != nil || len(v.Released) != maxUnnamed+1 {
		t.Fatalf("%d, %v", len(v.Released), err)
	}
	for _, r := range v.Released {
		if r.HoldID == "u-000" || r.HoldID == "u-002" {
			t.Errorf("%s is still there", r.HoldID)
		}
	}
}

// TestExpire: a hold that a plan expires ends with the plan's record, and is reported.
func TestExpire(t *testing.T) {
	s, _ := opened(t, t.TempDir())
	s.told(t, 1, 0, []resource.ActiveHold{lying("a"), lying("b")})
	_, after, err := s.Servers.Step("n1", func(v View) decide.Plan {
		return decide.Plan{Record: v.Record, Expire: []resource.Release{{HoldID: "a", By: "expiry", At: tombstoneStart}}}
	})
	if err != nil || len(after.Holds) != 1 || len(after.Released) != 1 || after.Released[0].By != "expiry" {
		t.Fatalf("%+v, %v", after, err)
	}
	s.wantHolds(t, []string{"b"}, []string{"a"})
}

// TestConfirmationComesLater: a document may add an operator's word to a hold.
func TestConfirmationComesLater(t *testing.T) {
	s, _ := opened(t, t.TempDir())
	a := lying("a")
	s.told(t, 1, 0, []resource.ActiveHold{a})
	a.ConfirmedDown = &resource.Confirmation{By: "ann", Reason: "cable pulled", At: tombstoneStart}
	s.told(t, 2, time.Minute, []resource.ActiveHold{a})
	v, err := s.Servers.View("n1")
	if err != nil || len(v.Holds) != 1 || v.Holds[0].ConfirmedDown == nil || !v.Holds[0].EnforcedAt.Equal(tombstoneStart) || v.Holds[0].Missing {
		t.Fatalf("%+v, %v", v.Holds, err)
	}
}
