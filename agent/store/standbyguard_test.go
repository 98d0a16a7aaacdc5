package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/agent/guard"
	"rackboot/state/statetest"
)

// part is what an agent is to its rack.
type part struct {
	acts      bool
	takenOver []string
}

func (p part) same(o part) bool { return p.acts == o.acts && slices.Equal(p.takenOver, o.takenOver) }

// lost is what an agent with the guard set is to its rack when its database does not open. own is the term with which it
// joined to stand by.
func lost(t rapid.TB, set guard.Set, own uint64) part {
	t.Helper()
	pairs, err := Seed(set)
	if err != nil {
		t.Fatal(err)
	}
	g := guard.Open(guard.Config{Agent: "a", Clock: time.Now})
	g.Begin(errors.New("it does not open"), true)
	db := guard.Freeze(pairs, errors.New("it does not open"))
	s, err := Open(Config{DB: g.Store(db), Guard: g, NewID: func() string { return "id" }, Standby: own})
	if err != nil {
		t.Fatal(err)
	}
	if have, _ := g.Set(); len(have.Shared)+len(have.Servers) != 0 {
		t.Fatalf("a frozen store is written: %+v", have)
	}
	return partOf(t, s)
}

func partOf(t rapid.TB, s *Store) (p part) {
	t.Helper()
	v, err := s.Servers.View("n1")
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.Servers.Overview()
	if r := s.Servers.Remembered("n1"); err != nil || o.Standby != v.Standby || r.Standby != v.Standby || r.Rests() != v.Rests() || s.Servers.StandsBy() != v.Standby {
		t.Fatalf("view %+v, overview %+v, remembered %+v, %v", v, o, r, err)
	}
	return part{v.Synced && !v.Rests(), v.Rack.TakenOver}
}

// TestStandbyWithoutItsStore: an agent that stands by and loses its database goes on standing by, and one that took over
// guards, and knows it. What joining to stand by cannot write counts all the same, and nothing is written.
func TestStandbyWithoutItsStore(t *testing.T) {
	marked, free := word{term: 2, version: 10, standby: true}, word{term: 2, version: 11}
	old := word{term: 1, version: 9}
	served := []any{old.holds("b"), old.rack()}
	for name, row := range map[string]struct {
		before []any // of the term before
		docs   []any
		joined bool // was it on disk that it joined
		want   part
	}{
		"joined":                                 {nil, nil, true, part{}},
		"joined, and nothing could be written":   {nil, nil, false, part{}},
		"joined with the disk of one that acts":  {served, nil, true, part{}},
		"the same, and nothing could be written": {served, nil, false, part{}},
		"stands by":                              {nil, []any{marked.holds("a"), marked.rack()}, true, part{}},
		"half a failover":                        {nil, []any{marked.holds("a"), marked.rack(), free.holds("a")}, true, part{}},
		"the other half":                         {nil, []any{marked.holds("a"), marked.rack(), free.rack("r1-1")}, true, part{takenOver: []string{"r1-1"}}},
		"took over":                              {nil, []any{marked.holds("a"), marked.rack(), free.holds("a"), free.rack("r1-1")}, true, part{true, []string{"r1-1"}}},
		"took over, the other way round":         {nil, []any{marked.holds("a"), marked.rack(), free.rack("r1-1"), free.holds("a")}, true, part{true, []string{"r1-1"}}},
		"took over, and it is settled": {nil, []any{
			marked.holds("a"), marked.rack(), free.holds("a"), free.rack("r1-1"), word{term: 2, version: 12}.rack(),
		}, true, part{acts: true}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			g := guard.Open(guard.Config{Agent: "a", Dir: dir, Clock: time.Now})
			db := statetest.NewMemory()
			s, err := Open(Config{DB: g.Store(db), Guard: g, NewID: func() string { return "id" }})
			if err != nil {
				t.Fatal(err)
			}
			s.hears(t, row.before...)
			g.Flush()
			if row.joined {
				if s, err = Open(Config{DB: g.Store(db), Guard: g, NewID: func() string { return "id" }, Standby: 2}); err != nil {
					t.Fatal(err)
				}
				if got := partOf(t, s); got.acts {
					t.Fatalf("joined to stand by it is %+v", got)
				}
			}
			s.hears(t, row.docs...)
			if err := g.Close(); err != nil { // killed within the second after the last document
				t.Fatal(err)
			}
			g = guard.Open(guard.Config{Agent: "a", Dir: dir, Clock: time.Now})
			set, _ := g.Set()
			if got := lost(t, set, 2); !got.same(row.want) {
				t.Errorf("without its store it is %+v, want %+v", got, row.want)
			}
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// died ends a run at a crash point.
type died struct{ point string }

// TestStandbyKilledAnywhere: whatever documents come in what order, wherever the agent dies, and with one slot damaged: without
// its store an agent never acts that does not act with it. One that was not killed within a second is the same without it.
func TestStandbyKilledAnywhere(t *testing.T) {
	root, n := t.TempDir(), 0
	acted, rested := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(root, fmt.Sprint(n))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		crash, own := "", uint64(0)
		at := func(p string) {
			if p == crash {
				panic(died{p})
			}
		}
		db := statetest.NewMemory()
		var g *guard.Guard
		var s *Store
		open := func() {
			g = guard.Open(guard.Config{Agent: "a", Dir: dir, Clock: time.Now, Crash: at})
		}
		start := func() (err error) {
			s, err = openInParts(Config{DB: g.Store(db), Guard: g, NewID: func() string { return "id" }, Crash: at, Standby: own}, 1)
			return err
		}
		// does runs what may be killed, and says whether it was.
		does := func(what func()) (killed bool) {
			defer func() {
				if d := recover(); d != nil {
					if _, is := d.(died); !is {
						panic(d)
					}
					killed, crash = true, ""
					_ = g.Close()
					db = db.Copy() // a transaction that died holds no lock of it
					open()
				}
			}()
			what()
			return false
		}
		check := func(settled bool) {
			set, has := g.Set()
			without := part{} // it waits for its store
			if has {
				without = lost(t, set, own)
			}
			if err := start(); err != nil {
				t.Fatal(err)
			}
			with := partOf(t, s)
			if without.acts && !with.acts {
				t.Fatalf("with its store it is %+v, and without %+v", with, without)
			}
			if settled && has && !with.same(without) {
				t.Fatalf("with its store it is %+v, and without %+v", with, without)
			}
			if with.acts {
				acted++
			} else {
				rested++
			}
		}
		open()
		if err := start(); err != nil {
			t.Fatal(err)
		}
		version := uint64(1)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			crash = rapid.SampledFrom([]string{"", "", guard.PointAhead, guard.PointBehind, "slots.first", "slots.both", "agent.open.part", "agent.holds.part", "agent.rack.part", "agent.holds.enforced", "agent.rack.applied"}).Draw(t, "crash")
			w := word{term: max(1, own), version: version, standby: rapid.Bool().Draw(t, "stands by")}
			version++
			var over []string
			if !w.standby && own > 0 {
				over = []string{"r1-1"}
			}
			killed := does(func() {
				switch rapid.IntRange(0, 4).Draw(t, "step") {
				case 0, 1:
					s.hearsWithin(t, w.holds("a"))
				case 2, 3:
					s.hearsWithin(t, w.rack(over...))
				case 4: // it ends, and joins anew with its disk
					if err := g.Close(); err != nil {
						t.Fatal(err)
					}
					open()
					own += 2
					if err := start(); err != nil {
						t.Fatal(err)
					}
				}
			})
			crash = ""
			settled := !killed && rapid.Bool().Draw(t, "a second later")
			if settled {
				g.Flush()
			}
			if rapid.IntRange(0, 3).Draw(t, "damage") == 0 {
				_ = g.Close()
				damage(t, filepath.Join(dir, "guard"+rapid.SampledFrom([]string{".0", ".1"}).Draw(t, "slot")))
				open()
			}
			check(settled)
		}
		_ = g.Close()
	})
	if acted == 0 || rested == 0 {
		t.Errorf("it acted %d times, and rested %d times", acted, rested)
	}
}

func damage(t rapid.TB, path string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		return // it is not there
	}
	raw[60] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *Store) hearsWithin(t rapid.TB, doc any) {
	t.Helper()
	if err := s.hear(doc); err != nil {
		t.Fatal(err)
	}
}
