package store

import (
	"fmt"
	"slices"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/statetest"
)

// word makes a document of the hub for an agent of a term.
type word struct {
	term, version uint64
	standby       bool
	epoch         uint64
}

func (w word) holds(ids ...string) message.HoldDoc {
	d := message.HoldDoc{Head: protocol.Head{Epoch: w.epoch, Version: w.version}, Term: w.term, IssuedAt: noon, Standby: w.standby}
	for _, id := range ids {
		d.Holds = append(d.Holds, lying(id))
	}
	return d
}

func (w word) rack(takenOver ...string) message.RackDoc {
	return message.RackDoc{
		Head: protocol.Head{Epoch: w.epoch, Version: w.version}, Term: w.term, Shards: 1,
		Rack: &message.RackIntent{Name: "r1", Standby: w.standby, TakenOver: takenOver}, Servers: []message.ServerIntent{{Server: "n1", UID: "u1"}},
	}
}

// joined opens the store of an agent that joined to stand by, with the term 2.
func joined(t *testing.T, db state.Store) *Store {
	t.Helper()
	s, err := Open(Config{DB: db, NewID: func() string { return "id" }, Standby: 2})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *Store) hears(t *testing.T, docs ...any) {
	t.Helper()
	for _, d := range docs {
		if err := s.hear(d); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *Store) hear(doc any) error {
	var err error
	switch d := doc.(type) {
	case message.HoldDoc:
		_, _, err = s.Documents.ApplyHolds(noon, d, fmt.Sprint(d.Head))
	case message.RackDoc:
		_, _, err = s.Documents.ApplyRack(d, fmt.Sprint(d.Head), func(message.ServerIntent) (*Credentials, error) { return nil, nil })
	}
	return err
}

// acts says what the agent is, also as a fresh read of the disk says.
func (s *Store) acts(t *testing.T) (acts bool, takenOver []string) {
	t.Helper()
	for range 2 {
		v, err := s.Servers.View("n1")
		if err != nil {
			t.Fatal(err)
		}
		o, err := s.Servers.Overview()
		if err != nil {
			t.Fatal(err)
		}
		if v.Standby != o.Standby || v.Synced != o.Synced || v.Standby != s.Servers.StandsBy() || v.Standby && (v.Synced || !v.Rests()) {
			t.Fatalf("view %+v, overview %+v", v, o)
		}
		acts, takenOver = v.Synced && !v.Rests(), v.Rack.TakenOver
		s.disk.mirror.forget()
	}
	return acts, takenOver
}

// TestStandby walks how an agent comes to stand by, and to serve: it acts once both documents are its own, and none
// says that it stands by.
func TestStandby(t *testing.T) {
	marked, free := word{term: 2, version: 10, standby: true}, word{term: 2, version: 11}
	old := word{term: 1, version: 9}
	for name, row := range map[string]struct {
		docs []any
		acts bool
	}{
		"joined":                               {nil, false},
		"its hold document":                    {[]any{marked.holds("a")}, false},
		"its rack document":                    {[]any{marked.rack()}, false},
		"both":                                 {[]any{marked.holds("a"), marked.rack()}, false},
		"a free hold document":                 {[]any{marked.holds("a"), marked.rack(), free.holds("a")}, false},
		"a free rack document":                 {[]any{marked.holds("a"), marked.rack(), free.rack("r1-1")}, false},
		"a failover":                           {[]any{marked.holds("a"), marked.rack(), free.holds("a"), free.rack("r1-1")}, true},
		"a failover, the other way round":      {[]any{marked.rack(), marked.holds("a"), free.rack("r1-1"), free.holds("a")}, true},
		"a failover before it heard anything":  {[]any{free.holds("a"), free.rack("r1-1")}, true},
		"a failover that its rack lacks":       {[]any{marked.holds("a"), free.holds("a")}, false},
		"stands by again":                      {[]any{free.holds("a"), free.rack("r1-1"), word{term: 2, version: 12, standby: true}.holds("a")}, false},
		"a late copy":                          {[]any{marked.holds("a"), marked.rack(), free.holds("a"), free.rack("r1-1"), free.holds("a")}, true},
		"a late copy of when it stood by only": {[]any{free.holds("a"), free.rack("r1-1")}, true},
	} {
		for _, disk := range []string{"empty", "of an agent that served"} {
			t.Run(name+", disk "+disk, func(t *testing.T) {
				db := statetest.NewMemory()
				s := openMany(t, db, nil)
				if disk != "empty" {
					s.hears(t, old.holds("b"), old.rack())
					if acts, _ := s.acts(t); !acts {
						t.Fatal("it does not serve")
					}
				}
				for range 2 { // each start says so
					s = joined(t, db)
				}
				if acts, _ := s.acts(t); acts {
					t.Error("acts before it has heard")
				}
				s.hears(t, row.docs...)
				s = joined(t, db)
				acts, over := s.acts(t)
				if acts != row.acts {
					t.Errorf("acts: %t", acts)
				}
				if acts && !slices.Equal(over, []string{"r1-1"}) {
					t.Errorf("it was taken over from %v", over)
				}
			})
		}
	}
	if err := openMany(t, statetest.NewMemory(), nil).hear(word{term: 2, version: 1}.holds()); err != nil {
		t.Error(err)
	}
}

// TestStandbyHolds: the holds of one that stands by are those of the hub, and go with them; what it enforced itself
// stays, and so does what only a hub lacks that was restored.
func TestStandbyHolds(t *testing.T) {
	at := func(version uint64, standby bool) word { return word{term: 2, version: version, standby: standby} }
	restored := at(2, true)
	restored.epoch = 1
	for name, row := range map[string]struct {
		play func(t *testing.T, s *Store)
		lie  []string
	}{
		"copied":                    {func(t *testing.T, s *Store) { s.hears(t, at(1, true).holds("a", "b")) }, []string{"a", "b"}},
		"one is gone":               {func(t *testing.T, s *Store) { s.hears(t, at(1, true).holds("a", "b"), at(2, true).holds("b")) }, []string{"b"}},
		"one is gone at a failover": {func(t *testing.T, s *Store) { s.hears(t, at(1, true).holds("a", "b"), at(2, false).holds("b")) }, []string{"b"}},
		"one is gone after it": {func(t *testing.T, s *Store) {
			s.hears(t, at(1, true).holds("a"), at(2, false).holds("a"), at(3, false).holds())
		}, []string{"a"}},
		"a hub that was restored": {func(t *testing.T, s *Store) { s.hears(t, at(1, true).holds("a", "b"), restored.holds("b")) }, []string{"a", "b"}},
		"placed at it once": {func(t *testing.T, s *Store) {
			s.placeHere(t, "c")
			s.hears(t, at(1, true).holds("a"), at(2, true).holds())
		}, []string{"c"}},
		"a hold of the hub from before it joined": {func(t *testing.T, s *Store) { s.hears(t, word{term: 1, version: 1}.holds("z"), at(2, true).holds("a")) }, []string{"a"}},
		"the failover releases one": {func(t *testing.T, s *Store) {
			d := at(2, false).holds("b")
			d.Releases = []resource.Release{{HoldID: "a", Server: "n1", By: "o", At: noon}}
			s.hears(t, at(1, true).holds("a", "b"), d)
		}, []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := openMany(t, statetest.NewMemory(), nil)
			row.play(t, s)
			s.wantHolds(t, row.lie, nil)
			events := s.backlog(t, 100).Events
			for _, e := range events {
				if e.Code == resource.EventHoldEnforced && name == "copied" {
					t.Errorf("the hub is told of a hold that it enforces: %+v", e)
				}
			}
		})
	}
}

// TestFailoverKilled kills an agent before each transaction of the documents by which it takes over: what is there then
// does not act, or knows that it may switch nothing on; and it comes to the same end.
func TestFailoverKilled(t *testing.T) {
	marked, free := word{term: 2, version: 10, standby: true}, word{term: 2, version: 11}
	before := statetest.NewMemory()
	s := joined(t, before)
	s.hears(t, marked.holds("a", "b", "c"), marked.rack())
	docs := []any{free.holds("b", "d"), free.rack("r1-1")}
	points := 0
	for at := 1; at == 1 || at <= points; at++ {
		db := before.Copy()
		passed := 0
		s, err := openInParts(Config{DB: db, NewID: func() string { return "id" }, Crash: func(string) {
			if passed++; passed == at {
				_ = db.Close()
			}
		}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range docs {
			_ = s.hear(d)
		}
		points = max(points, passed)
		db = db.Copy()
		s = openMany(t, db, nil)
		if acts, over := s.acts(t); acts && len(over) == 0 {
			t.Errorf("killed at %d it acts, and knows of no failover", at)
		}
		s.hears(t, docs...)
		s.wantHolds(t, []string{"b", "d"}, nil)
		if acts, over := s.acts(t); !acts || len(over) != 1 {
			t.Errorf("killed at %d: acts %t, %v", at, acts, over)
		}
	}
	if points < 6 {
		t.Errorf("%d points", points)
	}
}
