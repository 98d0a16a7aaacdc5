package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/badger"
	"rackboot/state/statetest"
)

// content is everything below prefixes but the head, which counts how often was written.
func content(t testing.TB, db state.Store, prefixes ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := db.View(func(x state.Txn) error {
		for _, p := range prefixes {
			if err := x.Scan(p, func(key string, raw []byte) error {
				all[key] = string(raw)
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(all, keyHead)
	return all
}

// TestManyServersStartKilled: a start of 2,000 servers dies before each of its
// transactions in turn. What is there then has each record as it was or as it shall be,
// and the next start ends where one ends that nothing interrupts.
func TestManyServersStartKilled(t *testing.T) {
	const part = 192 << 10
	disk := statetest.NewMemory()
	fill(t, disk, manyServers)
	before, whole := content(t, disk, ""), disk.Copy()
	openKilled := func(db *statetest.Memory, at int) (passed int, err error) {
		_, err = openInParts(Config{DB: db, NewID: func() string { return "id" }, Crash: func(string) {
			if passed++; passed == at {
				_ = db.Close() // what is not committed by now never is
			}
		}}, part)
		return passed, err
	}
	points, err := openKilled(whole, 0)
	if err != nil || points < 3 {
		t.Fatalf("%d transactions, %v", points, err)
	}
	want := content(t, whole, "")
	for at := 1; at <= points; at++ {
		db := disk.Copy()
		if _, err := openKilled(db, at); err == nil {
			t.Fatalf("the start went on after it was killed at %d", at)
		}
		db = db.Copy()
		changed := 0
		for key, value := range content(t, db, "") {
			if value != before[key] {
				changed++
			}
			if value != before[key] && value != want[key] {
				t.Errorf("killed at %d: %s is %.200s", at, key, value)
			}
		}
		if at > 2 && changed == 0 {
			t.Errorf("killed at %d: nothing was written", at)
		}
		if again, err := openKilled(db, 0); err != nil || at > 2 && again >= points {
			t.Errorf("after a kill at %d: %d transactions of %d, %v", at, again, points, err)
		}
		if got := content(t, db, ""); !maps.Equal(got, want) {
			t.Errorf("after a kill at %d the start ends elsewhere", at)
		}
	}
	if again, err := openKilled(whole, 0); err != nil || again != 0 {
		t.Errorf("a start with nothing to change writes %d times, %v", again, err)
	}
}

// few is a rack of which each document takes several transactions.
const (
	few      = 8
	fewBytes = 3200
)

// fewSteps are the documents of few, in order.
func fewSteps() []func(*Store) error {
	d := message.HoldDoc{Head: protocol.Head{Version: 1}, IssuedAt: noon}
	for i := range few {
		d.Holds = append(d.Holds, here("mass-"+nameOf(i), nameOf(i), "mass", "owner"))
	}
	d.Requests = append(d.Requests, resource.Request{ID: "r", Server: nameOf(1)})
	next := message.HoldDoc{Head: protocol.Head{Version: 2}, IssuedAt: noon, Releases: []resource.Release{{HoldID: "mass-" + nameOf(2), Server: nameOf(2), By: "owner"}}}
	apply := func(d message.HoldDoc) func(*Store) error {
		return func(s *Store) error {
			_, _, err := s.Documents.ApplyHolds(noon, d, fmt.Sprint(d.Head.Version))
			return err
		}
	}
	return []func(*Store) error{
		apply(d), apply(next),
		func(s *Store) error {
			_, _, err := s.Documents.ApplyRack(message.RackDoc{Head: protocol.Head{Version: 1}, Shards: 1, Rack: &message.RackIntent{Name: "r"}}, "1", nil)
			return err
		},
		func(s *Store) error { return s.Identity.Renew(noon, "id-1") },
	}
}

// TestPartsKilled kills the process at each transaction of a start and of documents that
// take several. A document that is in force is there whole. One that is not is applied
// again, as the hub sends it again, and the end is the same.
func TestPartsKilled(t *testing.T) {
	openFew := func(db state.Store, crash state.Crasher) (*Store, error) {
		s, err := openInParts(Config{DB: db, Crash: crash, NewID: func() string { return "id-1" }}, fewBytes)
		if err == nil {
			s.Identity.newID = func() string { return "id-2" }
		}
		return s, err
	}
	onDisk := func(dir string) (*badger.Store, error) { return badger.Open(badger.Config{Dir: dir, MinFree: 1}) }
	facts := []string{keyIntents, keyHolds, keyRecords, "request/", docs, keyRack, keyIncarnation}
	calm := statetest.NewMemory()
	fill(t, calm, few)
	s, err := openFew(calm, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range fewSteps() {
		if err := step(s); err != nil {
			t.Fatal(err)
		}
	}
	want := content(t, calm, facts...)
	statetest.Points(t, func(run statetest.Run) {
		db, err := onDisk(run.Dir)
		if err != nil {
			panic(err)
		}
		fill(t, db, few)
		s, err := openFew(db, func(point string) {
			if strings.HasSuffix(point, ".part") {
				run.Crash(point)
			}
		})
		if err != nil {
			panic(err)
		}
		run.Ack("open")
		for _, step := range fewSteps() {
			if err := step(s); err != nil {
				panic(err)
			}
			run.Ack("step")
		}
	}, func(t *testing.T, k statetest.Kill) {
		db, err := onDisk(k.Dir)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		s, err := openFew(db, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.Documents.Applied()
		if err != nil {
			t.Fatal(err)
		}
		version := a.Heads[message.LeafHold].Version
		if steps := len(k.Acked) - 1; steps >= 1 && version == 0 || steps >= 2 && version < 2 {
			t.Errorf("%d documents were acknowledged, and version %d is in force", steps, version)
		}
		for i, step := range fewSteps() {
			if err := step(s); err != nil && !errors.Is(err, ErrOlder) {
				t.Errorf("step %d again: %v", i, err)
			}
		}
		got := content(t, db, facts...)
		for key := range want {
			if got[key] != want[key] {
				t.Errorf("%s is %.300s, want %.300s", key, got[key], want[key])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d keys, want %d", len(got), len(want))
		}
	})
}

// TestDraft: a draft shows what a transaction would, and its parts write the same.
func TestDraft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"a/1", "a/2", "a/3", "b/1", "b/2"})
		one, parts := statetest.NewMemory(), statetest.NewMemory()
		for _, db := range []*statetest.Memory{one, parts} {
			_ = db.Update(func(x state.Txn) error { return errors.Join(x.Set("a/1", []byte("x")), x.Set("b/1", nil)) })
		}
		s := &Store{disk: &disk{db: parts, partBytes: 2 * (writeCost + 4), write: make(chan struct{}, 1)}}
		var seen [2][]string
		type op struct {
			kind string
			key  string
		}
		ops := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) op {
			return op{rapid.SampledFrom([]string{"set", "empty", "delete", "get", "scan", "scan and write", "cut"}).Draw(t, "op"), key.Draw(t, "key")}
		}), 0, 20).Draw(t, "ops")
		play := func(x state.Txn, cut func(), out *[]string) error {
			for i, o := range ops {
				var err error
				switch o.kind {
				case "set":
					err = x.Set(o.key, []byte{byte(i)})
				case "empty":
					err = x.Set(o.key, []byte{})
				case "delete":
					err = x.Delete(o.key)
				case "get":
					v, gone := x.Get(o.key)
					*out = append(*out, fmt.Sprintf("%s %x %v", o.key, v, gone))
				case "scan", "scan and write":
					err = x.Scan(o.key[:2], func(key string, v []byte) error {
						*out = append(*out, fmt.Sprintf("%s %x", key, v))
						if o.kind == "scan and write" {
							return x.Set(key, append(bytes.Clone(v), 1))
						}
						return nil
					})
				case "cut":
					cut()
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
		err := errors.Join(
			one.Update(func(x state.Txn) error { return play(x, func() {}, &seen[0]) }),
			s.disk.updateInParts("p", func(x state.Txn, cut func()) error { return play(x, cut, &seen[1]) }),
		)
		if err != nil || !slices.Equal(seen[0], seen[1]) {
			t.Fatalf("%v\n%q\n%q", err, seen[0], seen[1])
		}
		var have [2][]string
		for i, db := range []*statetest.Memory{one, parts} {
			_ = db.View(func(x state.Txn) error {
				return x.Scan("", func(key string, v []byte) error {
					if key != keyHead { // one writes without
						have[i] = append(have[i], fmt.Sprintf("%s=%x", key, v))
					}
					return nil
				})
			})
		}
		if !slices.Equal(have[0], have[1]) {
			t.Fatalf("%q\n%q", have[0], have[1])
		}
	})
}

// TestPack: parts keep the order and the bound, and a unit is never torn.
func TestPack(t *testing.T) {
	unit := func(n, size int) (u []write) {
		for range n {
			u = append(u, write{"k", make([]byte, size-1-writeCost)})
		}
		return u
	}
	for _, row := range []struct {
		name  string
		units [][]write
		want  []int // writes of each part
	}{
		{"nothing", nil, nil},
		{"all in one", [][]write{unit(1, 100), unit(2, 100)}, []int{3}},
		{"to the brim", [][]write{unit(5, 100), unit(5, 100), unit(1, 100)}, []int{10, 1}},
		{"one over the bound stays whole", [][]write{unit(1, 100), unit(30, 100), unit(1, 100)}, []int{1, 30, 1}},
	} {
		var got []int
		for _, p := range pack(row.units, 1000) {
			got = append(got, len(p))
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

// mirrorIsTrue compares the mirror with what a store finds that reads it all.
func (s *Store) mirrorIsTrue(t interface{ Fatalf(string, ...any) }) {
	var fresh mirror
	if err := s.disk.db.View(fresh.read); err != nil {
		t.Fatalf("%v", err)
	}
	was, err := s.Servers.Overview()
	if err != nil {
		t.Fatalf("%v", err)
	}
	is, err := (&Servers{disk: &disk{db: s.disk.db, write: make(chan struct{}, 1)}}).Overview()
	if err != nil || !reflect.DeepEqual(was, is) {
		t.Fatalf("%v\nkept %+v\nread %+v", err, was, is)
	}
}

// failingCommit is a store whose commits are reported as failed, though they are on disk.
type failingCommit struct {
	state.Store
	fails bool
}

func (f *failingCommit) Update(fn func(state.Txn) error) error {
	err := f.Store.Update(fn)
	if err == nil && f.fails {
		return errors.New("fsync: input/output error")
	}
	return err
}

func (f *failingCommit) Batch(ctx context.Context, fn func(state.Txn) error) error {
	return f.Store.Batch(ctx, fn)
}

// TestMirrorAfterFailedCommit: what is there after a commit that failed is read, not guessed.
func TestMirrorAfterFailedCommit(t *testing.T) {
	db := &failingCommit{Store: statetest.NewMemory()}
	s := openMany(t, db, nil)
	s.known(t, "n1")
	db.fails = true
	if _, _, err := s.Local.Hold(noon, here("h", "n1", "k", "o")); err == nil {
		t.Fatal("it was placed")
	}
	s.mirrorIsTrue(t)
	if o, _ := s.Servers.Overview(); len(o.Holds) != 1 {
		t.Errorf("holds %+v", o.Holds)
	}
}
