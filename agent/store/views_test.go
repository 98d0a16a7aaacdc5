package store

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/statetest"
)

// looks is a transaction that notes what is read of it.
type looks struct {
	state.Txn
	keys []string
}

func (l *looks) Get(key string) ([]byte, error) {
	l.keys = append(l.keys, key)
	return l.Txn.Get(key)
}

func (l *looks) Scan(prefix string, fn func(string, []byte) error) error {
	l.keys = append(l.keys, prefix+"x")
	return l.Txn.Scan(prefix, fn)
}

func viewing(t *testing.T, db state.Store) *Store {
	t.Helper()
	s, err := Open(Config{DB: db, NewID: func() string { return "id" }, Guarded: func() bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	s.known(t, "n1", "n2")
	return s
}

// TestViewedKeys: a write of anything that a view is made of is noticed, also of what somebody adds to it.
func TestViewedKeys(t *testing.T) {
	db := statetest.NewMemory()
	s := viewing(t, db)
	var read looks
	s.disk.mirror.forget() // what it has is read, too
	if err := db.View(func(txn state.Txn) error {
		read.Txn = txn
		_, err := s.Servers.view(&read, "n1")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(read.keys) < 14 {
		t.Errorf("only %q were read", read.keys)
	}
	for _, key := range read.keys {
		if server, all := viewed(key); server != "n1" && !all {
			t.Errorf("%s is of %q, all %v", key, server, all)
		}
	}
	for _, key := range []string{"event/1", "session/x", "lease/a/b", "trace/n1/1", "meta/event", keyHubHead} {
		if server, all := viewed(key); server != "" || all {
			t.Errorf("%s is of %q, all %v", key, server, all)
		}
	}
}

func holdOn(server, id string) func(state.Txn) error {
	return func(t state.Txn) error {
		h := decide.Hold{}
		h.ID, h.Server = id, server
		return put(t, keyHolds+server+"/"+id, h)
	}
}

func idsOf(v View) (ids []string) {
	for _, h := range v.Holds {
		ids = append(ids, h.ID)
	}
	slices.Sort(ids)
	return ids
}

// TestViewsAreOfTheDisk: a view is that of the disk, whatever was written, refused or lost since the last one.
func TestViewsAreOfTheDisk(t *testing.T) {
	db := statetest.NewMemory()
	s := viewing(t, db)
	want := func(server, ids string) {
		t.Helper()
		for range 2 {
			v, err := s.Servers.View(server)
			if got := strings.Join(idsOf(v), " "); err != nil || got != ids {
				t.Errorf("%s has %q, not %q: %v", server, got, ids, err)
			}
		}
	}
	want("n1", "")
	want("n2", "")
	must(t, s.disk.update(holdOn("n1", "a")))
	want("n1", "a")
	want("n2", "")
	refused := errors.New("refused")
	if err := s.disk.update(func(txn state.Txn) error { return errors.Join(holdOn("n1", "b")(txn), refused) }); !errors.Is(err, refused) {
		t.Fatal(err)
	}
	want("n1", "a")
	must(t, s.disk.updateInParts("", func(txn state.Txn, cut func()) error {
		defer cut()
		return holdOn("n2", "c")(txn)
	}))
	want("n2", "c")

	v, err := s.Servers.View("n1")
	must(t, err)
	v.Intent.Missing, v.Record.Holds.Receipts = true, map[string]resource.Receipt{}
	if again, err := s.Servers.View("n1"); err != nil || again.Intent.Missing || again.Record.Holds.Receipts != nil {
		t.Errorf("who has a view has changed that of another: %+v, %v", again, err)
	}
}

// TestViewBetween: what was read while a transaction went on is kept by nobody, and a decision that rests on it is
// taken again.
func TestViewBetween(t *testing.T) {
	db := statetest.NewMemory()
	s := viewing(t, db)
	must(t, s.disk.update(func(txn state.Txn) error {
		if err := holdOn("n1", "a")(txn); err != nil {
			return err
		}
		if v, err := s.Servers.View("n1"); err != nil || len(v.Holds) > 0 {
			t.Errorf("what is not on disk is seen: %v, %v", idsOf(v), err)
		}
		return nil
	}))
	if v, err := s.Servers.View("n1"); err != nil || len(v.Holds) != 1 {
		t.Errorf("what was read before is seen: %v, %v", idsOf(v), err)
	}
	for _, persist := range []bool{false, true} {
		var seen [][]string
		_, after, err := s.Servers.Step("n1", func(v View) decide.Plan {
			if seen = append(seen, idsOf(v)); len(seen) == 1 {
				must(t, s.disk.update(holdOn("n1", "b"))) // by another goroutine, while this one decides
			}
			return decide.Plan{Record: v.Record, Persist: persist}
		})
		if err != nil || len(seen) != 2 || len(seen[1]) != 2 || len(after.Holds) != 2 {
			t.Errorf("persist %v: decided on %v, after %v: %v", persist, seen, idsOf(after), err)
		}
		must(t, s.disk.update(func(txn state.Txn) error { return txn.Delete(keyHolds + "n1/b") }))
	}
}
