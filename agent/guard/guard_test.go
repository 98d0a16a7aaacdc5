package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/state"
	"rackboot/state/statetest"
)

func TestVerdictTable(t *testing.T) {
	doctable.Of(t, "verdict.go", "Decide").Hold(t, [][]string{
		doctable.Words(OpensWell, OpensConflict, OpensNewer, OpensNot), doctable.Words(SetNone, SetWhole, SetDamaged),
		doctable.Words(IdentitySame, IdentityOther, IdentityNone, IdentityLess), doctable.YesNo(),
	}, func(in []string) []string {
		return doctable.Words(Decide(Found{Opens: Opens(in[0]), Set: SetState(in[1]), Identity: Identity(in[2]), Accepted: in[3] == "yes"}))
	})
}

// FuzzParse: what is read is a guard set that is written in the same way, or an error.
func FuzzParse(f *testing.F) {
	whole, err := Set{Agent: "a", Incarnations: []string{"i"}, Shared: map[string]json.RawMessage{"rack": []byte(`{}`)}, Servers: map[string]Server{
		"n1": {Intent: []byte(`{}`), BMC: "b", Secret: []byte(`{}`), Holds: map[string]Hold{"h": {Value: []byte(`{"id":"h"}`), Coming: true}}, Proved: []string{"h"}},
	}}.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(`{"version":2,"agent":"a"}`))
	f.Add([]byte(`{"version":1,"agent":"a","servers":{"n":{"holds":null}}}`))
	f.Add([]byte(`{"version":1,"agent":"a","servers":{"n":{"holds":{"x":{}}}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := Parse(raw)
		if err != nil {
			return
		}
		once, err := s.encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice, err := again.encode(); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%s, then %s, %v", once, twice, err)
		}
		// Whatever it says, the store that is made of it answers.
		c := Change{Gone: map[string]bool{}, Servers: map[string]Server{"n": {Holds: map[string]Hold{"x": {Value: []byte(`{}`)}}}}, Shared: map[string]json.RawMessage{"k": nil}}
		if _, lies := s.Servers["n"].Holds["x"]; !lies && !s.ahead(c).Servers["n"].Holds["x"].Coming {
			t.Error("a new hold is not coming")
		}
		_ = s.behind(c)
	})
}

func TestNewerSet(t *testing.T) {
	if _, err := Parse([]byte(`{"version":2,"agent":"a"}`)); protocol.CodeOf(err) != protocol.CodeUnsupported {
		t.Error(err)
	}
}

var errFull = protocol.Errorf(protocol.CodeUnavailable, "store", "full")

// TestMode: guard mode begins with a write that fails, not with a caller's error, and ends with one
// that does not.
func TestMode(t *testing.T) {
	now := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	g := Open(Config{Agent: "a", Clock: func() time.Time { return now }})
	told := 0
	g.Notify(func() { told++ })
	disk := statetest.NewMemory()
	db := g.Store(disk)
	set := func(t state.Txn) error { return t.Set("k", []byte("v")) }
	own := errors.New("the caller's")
	if err := db.Update(func(state.Txn) error { return own }); !errors.Is(err, own) || g.On() {
		t.Fatalf("%v, guard %t", err, g.On())
	}
	if err := db.Update(func(state.Txn) error { return errFull }); err == nil || g.On() {
		t.Fatalf("%v, guard %t", err, g.On())
	}
	disk.SetFull(true)
	if err := db.Update(func(state.Txn) error { return nil }); err != nil || g.On() {
		t.Fatalf("nothing to write: %v, guard %t", err, g.On())
	}
	if err := db.Update(set); protocol.CodeOf(err) != protocol.CodeUnavailable || !g.On() || told != 1 {
		t.Fatalf("%v, guard %t, told %d times", err, g.On(), told)
	}
	if o, owed := g.Overlay("n1"); !owed || !o.Began.Equal(now) {
		t.Errorf("overlay %+v, %t", o, owed)
	}
	g.Note("n1", decide.Overlay{Began: now, Tries: 1, Sent: 2})
	disk.SetFull(false)
	for _, write := range []func() error{
		func() error { return db.Update(set) },
		func() error { return db.Batch(context.Background(), set) },
	} {
		if err := write(); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("it is written in guard mode: %v", err)
		}
	}
	if err := g.Attempt(func(Mode) error { return own }); !errors.Is(err, own) || !g.On() {
		t.Errorf("%v, guard %t", err, g.On())
	}
	now = now.Add(time.Minute)
	if err := g.Attempt(func(m Mode) error { return db.Update(set) }); err != nil || g.On() {
		t.Errorf("%v, guard %t", err, g.On())
	}
	if o, owed := g.Overlay("n1"); !owed || o.Sent != 2 {
		t.Errorf("overlay %+v, %t", o, owed)
	}
	if o, owed := g.Overlay("n2"); !owed || o.Unread != time.Minute {
		t.Errorf("of a server that was not read: %+v, %t", o, owed)
	}
	g.Folded("n1")
	if o, owed := g.Overlay("n1"); owed {
		t.Errorf("it is owed twice: %+v", o)
	}
}

// TestModeBroken: a store that cannot be read begins guard mode too.
func TestModeBroken(t *testing.T) {
	g := Open(Config{Agent: "a", Clock: time.Now})
	disk := statetest.NewMemory()
	disk.SetBroken(true)
	if err := g.Store(disk).View(func(state.Txn) error { return nil }); err == nil || !g.On() {
		t.Errorf("%v, guard %t", err, g.On())
	}
}

// TestFrozen: it has what it was made of, shows a transaction its own writes, and keeps none.
func TestFrozen(t *testing.T) {
	db := Freeze(map[string][]byte{"a/1": []byte("1"), "a/2": []byte("2"), "b": []byte("3")}, errFull)
	show := func(tx state.Txn) (all []string) {
		if err := tx.Scan("a/", func(k string, v []byte) error { all = append(all, k+"="+string(v)); return nil }); err != nil {
			t.Error(err)
		}
		return all
	}
	err := db.Update(func(tx state.Txn) error {
		if err := errors.Join(tx.Set("a/15", []byte("new")), tx.Delete("a/2")); err != nil {
			return err
		}
		if got := show(tx); !slices.Equal(got, []string{"a/1=1", "a/15=new"}) {
			t.Errorf("it shows %v", got)
		}
		return nil
	})
	if protocol.CodeOf(err) != protocol.CodeUnavailable || !errors.Is(err, errFull) {
		t.Errorf("it takes a write: %v", err)
	}
	if err := db.Update(func(tx state.Txn) error { _, err := tx.Get("none"); return err }); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Error(err)
	}
	if err := db.View(func(tx state.Txn) error {
		if got := show(tx); !slices.Equal(got, []string{"a/1=1", "a/2=2"}) {
			t.Errorf("it has %v", got)
		}
		return tx.Set("a/3", nil)
	}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("a View writes: %v", err)
	}
}

// died ends a run at a crash point.
type died struct{ point string }

// TestSlotsAndStore: whatever order holds come and go in, wherever the agent dies, whatever the
// store refuses, and one slot damaged: the guard set never has fewer holds than the store, and a
// hold that was released is not taken for one that is coming.
func TestSlotsAndStore(t *testing.T) {
	root := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(root, fmt.Sprint(n))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		var crash string
		open := func() *Guard {
			return Open(Config{Agent: "a", Dir: dir, Clock: time.Now, Crash: func(p string) {
				if p == crash {
					panic(died{p})
				}
			}})
		}
		g := open()
		store, released := map[string]bool{}, map[string]bool{}
		taken := map[string]bool{} // by the guard set, and refused by the store
		holds := func() map[string]Hold {
			all := map[string]Hold{}
			for id := range store {
				all[id] = Hold{Value: []byte(fmt.Sprintf("%q", id))}
			}
			return all
		}
		check := func(g *Guard) {
			s, _ := g.Set()
			for id := range store {
				if _, has := s.Servers["n1"].Holds[id]; !has {
					t.Fatalf("the store has hold %s, the guard set %v", id, sorted(s.Servers["n1"].Holds))
				}
			}
			for id := range taken {
				if !s.Servers["n1"].Holds[id].Coming {
					t.Fatalf("hold %s was taken, and is not guarded", id)
				}
			}
			for id, h := range s.Servers["n1"].Holds {
				if h.Coming && released[id] {
					t.Fatalf("hold %s was released, and is taken for one that is coming", id)
				}
			}
		}
		// one is one transaction; it returns what a process that dies in it leaves.
		one := func(change func(), commits bool) {
			defer func() {
				if d := recover(); d != nil {
					if _, is := d.(died); !is {
						panic(d)
					}
					crash = ""
					_ = g.Close()
					g = open()
				}
			}()
			before, were := maps.Clone(store), maps.Clone(released)
			change()
			gone, fresh := map[string]bool{}, map[string]bool{}
			for id := range before {
				gone[id] = !store[id]
			}
			for id := range store {
				fresh[id] = !before[id]
			}
			c := Change{Gone: gone, Servers: map[string]Server{"n1": {Intent: []byte(`{}`), Holds: holds()}}}
			after, ended := store, released
			store, released = before, were
			g.Ahead(c)
			if !commits {
				for id, is := range fresh {
					if is {
						taken[id] = true
					}
				}
				return
			}
			store, released = after, ended
			g.Behind(c)
		}
		for i := range rapid.IntRange(1, 12).Draw(t, "steps") {
			crash = rapid.SampledFrom([]string{"", "", "", PointAhead, PointBehind, "slots.first", "slots.both"}).Draw(t, "crash")
			commits := rapid.IntRange(0, 3).Draw(t, "refused") > 0
			id := fmt.Sprint("h", i)
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				one(func() { store[id] = true }, commits)
			case 2:
				if len(store) > 0 {
					id = rapid.SampledFrom(sorted(store)).Draw(t, "hold")
					one(func() { delete(store, id); released[id] = true }, commits)
				}
			case 3: // the process ends, and one slot is damaged
				crash = ""
				if err := g.Close(); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(dir, slotsName+rapid.SampledFrom([]string{".0", ".1"}).Draw(t, "slot"))
				if raw, err := os.ReadFile(path); err == nil && rapid.Bool().Draw(t, "damage") {
					raw[60] ^= 1
					if err := os.WriteFile(path, raw, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				g = open()
				g.Settle(settled(holds())) // as every start does
				clear(taken)
			}
			check(g)
		}
		crash = ""
		_ = g.Close()
		g = open()
		check(g)
		_ = g.Close()
	})
}

// settled is the guard set of a store. That it takes over what is coming is agent/store's.
func settled(holds map[string]Hold) Set {
	if len(holds) == 0 {
		return Set{}
	}
	return Set{Servers: map[string]Server{"n1": {Intent: []byte(`{}`), Holds: holds}}}
}
