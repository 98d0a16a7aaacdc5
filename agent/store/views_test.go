package store

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

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

// inMemory is the view that is in memory; false if none is.
func inMemory(s *Store, server string) (View, bool) {
	v, _, have := s.disk.views.at(server)
	return v, have
}

// ofDisk is the view as it is read key by key.
func ofDisk(t *testing.T, s *Store, server string) (v View) {
	t.Helper()
	must(t, s.disk.db.View(func(txn state.Txn) (err error) {
		v, err = s.Servers.view(txn, server)
		return err
	}))
	return v
}

// stepped makes a step that writes a record which fill has changed.
func stepped(t *testing.T, s *Store, server string, fill func(*decide.Record)) {
	t.Helper()
	_, _, err := s.Servers.Step(server, func(v View) decide.Plan {
		r := v.Record
		fill(&r)
		return decide.Plan{Record: r, Persist: true}
	})
	must(t, err)
}

// TestViewFollowsRecord: after a step that wrote the record alone, the view in memory is that of the disk, and nothing was read for it. After
// one beside which something else was written of it, none is there.
func TestViewFollowsRecord(t *testing.T) {
	s := viewing(t, statetest.NewMemory())
	follows := func(what string, is bool) {
		t.Helper()
		v, have := inMemory(s, "n1")
		if have != is {
			t.Errorf("%s: kept %v", what, have)
		}
		if disk := ofDisk(t, s, "n1"); have && !reflect.DeepEqual(v, disk) {
			t.Errorf("%s: kept %+v\nof the disk %+v", what, v, disk)
		}
	}
	now := time.Now() // with a monotonic clock, which no disk has
	stepped(t, s, "n1", func(r *decide.Record) { r.Ordered = now })
	follows("a record", true)
	stepped(t, s, "n1", func(r *decide.Record) { r.Requests = []decide.RequestState{} }) // which no disk tells from nil
	follows("another record", true)
	stepped(t, s, "n2", func(r *decide.Record) { r.Ordered = now })
	follows("the record of another server", true)

	stepped(t, s, "n1", func(r *decide.Record) { r.Owners.Fallback = &decide.Fallback{} })
	follows("a record with a fallback", false)
	stepped(t, s, "n1", func(r *decide.Record) { r.Owners.Fallback = nil })
	follows("a record without it", false)
	stepped(t, s, "n1", func(r *decide.Record) { r.Ordered = now })
	follows("one after it", true)

	must(t, s.disk.update(holdOn("n1", "a")))
	follows("a hold", false)
	once := sync.Once{}
	stepped(t, s, "n1", func(*decide.Record) { once.Do(func() { must(t, s.disk.update(holdOn("n1", "b"))) }) })
	follows("a hold while it was decided", false)

	// A hold and a step share a transaction, in either order.
	for _, first := range []bool{true, false} {
		_, err := s.Servers.View("n1")
		must(t, err)
		s.disk.hold()
		var all sync.WaitGroup
		queue := func(write func()) {
			n := waitingCalls(s)
			all.Go(write)
			for waitingCalls(s) == n {
				runtime.Gosched()
			}
		}
		hold := func() { must(t, s.disk.update(holdOn("n1", fmt.Sprint("c", first)))) }
		if first {
			queue(hold)
		}
		queue(func() { stepped(t, s, "n1", func(r *decide.Record) { r.Ordered = now }) })
		if !first {
			queue(hold)
		}
		s.disk.together(s.disk.calls.take(callsTogether))
		s.disk.letGo()
		all.Wait()
		follows("a hold in the same transaction", false)
		if v, err := s.Servers.View("n1"); err != nil || !slices.Contains(idsOf(v), fmt.Sprint("c", first)) {
			t.Errorf("%v, %v", idsOf(v), err)
		}
	}
}

func waitingCalls(s *Store) int {
	s.disk.calls.mu.Lock()
	defer s.disk.calls.mu.Unlock()
	return len(s.disk.calls.wait)
}

// TestViewsProperty: whatever is written in whatever order, a view that is in memory is that of the disk.
func TestViewsProperty(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := viewing(t, statetest.NewMemory())
		held, fails := 0, errors.New("refused")
		act := map[string]func(*rapid.T){
			"step": func(*rapid.T) { stepped(t, s, "n1", func(r *decide.Record) { r.Ordered = time.Now() }) },
			"view": func(*rapid.T) { _, _ = s.Servers.View("n1") },
			"hold": func(*rapid.T) {
				held++
				must(t, s.disk.update(holdOn("n1", fmt.Sprint(held))))
			},
			"hold while it is decided": func(*rapid.T) {
				once := sync.Once{}
				held++
				stepped(t, s, "n1", func(*decide.Record) { once.Do(func() { must(t, s.disk.update(holdOn("n1", fmt.Sprint(held)))) }) })
			},
			"refused": func(*rapid.T) {
				if err := s.disk.update(func(txn state.Txn) error { return errors.Join(holdOn("n1", "x")(txn), fails) }); !errors.Is(err, fails) {
					t.Error(err)
				}
			},
			"fallback":    func(*rapid.T) { stepped(t, s, "n1", func(r *decide.Record) { r.Owners.Fallback = &decide.Fallback{} }) },
			"no fallback": func(*rapid.T) { stepped(t, s, "n1", func(r *decide.Record) { r.Owners.Fallback = nil }) },
			"all": func(*rapid.T) {
				must(t, s.disk.update(func(txn state.Txn) error { return put(txn, keyFloor, time.Now()) }))
			},
			"": func(r *rapid.T) {
				if v, have := inMemory(s, "n1"); have {
					if disk := ofDisk(t, s, "n1"); !reflect.DeepEqual(v, disk) {
						r.Fatalf("kept %+v\nof the disk %+v", v, disk)
					}
				}
			},
		}
		r.Repeat(act)
	})
}
