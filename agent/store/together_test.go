package store

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"rackboot/state"
	"rackboot/state/badger"
	"rackboot/state/statetest"
)

// slow is a store whose disk takes its time: each transaction waits for its turn before it is
// written. It counts them.
type slow struct {
	state.Store
	turn   chan struct{}
	commit func(n int) error // fails the nth, from 1; nil fails none
	mu     sync.Mutex
	n      int
}

func (s *slow) Update(fn func(state.Txn) error) error {
	<-s.turn
	s.mu.Lock()
	s.n++
	n := s.n
	s.mu.Unlock()
	return s.Store.Update(func(t state.Txn) error {
		if err := fn(t); err != nil || s.commit == nil {
			return err
		}
		return s.commit(n)
	})
}

// waiting returns once so many calls wait for a turn.
func (d *disk) waiting(n int) {
	for {
		d.calls.mu.Lock()
		have := len(d.calls.wait)
		d.calls.mu.Unlock()
		if have == n {
			return
		}
		runtime.Gosched()
	}
}

func slowDisk() (*disk, *slow, *statetest.Memory) {
	db := statetest.NewMemory()
	s := &slow{Store: db, turn: make(chan struct{}, 100)}
	return &disk{db: s, partBytes: partBytes, write: make(chan struct{}, 1)}, s, db
}

// begin begins each call once the ones before it wait; the first one is at the disk, alone.
func (d *disk) begin(fns ...func(state.Txn) error) (answers []chan error) {
	for i, fn := range fns {
		done := make(chan error, 1)
		answers = append(answers, done)
		go func() { done <- d.update(fn) }()
		if i == 0 {
			for len(d.write) == 0 {
				runtime.Gosched()
			}
			d.waiting(0)
			continue
		}
		d.waiting(i)
	}
	return answers
}

func sets(key string) func(state.Txn) error {
	return func(t state.Txn) error { return t.Set(key, []byte(key)) }
}

// TestUpdatesTogether: those that wait for the disk share a transaction, see what the ones before
// wrote, and one that fails undoes its own writes only.
func TestUpdatesTogether(t *testing.T) {
	d, s, db := slowDisk()
	wrong := errors.New("wrong")
	var last []byte
	answers := d.begin(sets("record/0"), sets("record/1"),
		func(t state.Txn) error {
			return errors.Join(t.Set("record/1", []byte("spoilt")), t.Delete("record/0"), wrong)
		},
		func(t state.Txn) (err error) {
			last, err = t.Get("record/1")
			return errors.Join(err, t.Set("record/3", last))
		})
	s.turn <- struct{}{}
	s.turn <- struct{}{}
	for i, a := range answers {
		if err := <-a; !errors.Is(err, map[int]error{2: wrong}[i]) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	got := content(t, db, "record/")
	want := map[string]string{"record/0": "record/0", "record/1": "record/1", "record/3": "record/1"}
	if !maps.Equal(got, want) || s.n != 2 {
		t.Errorf("%v in %d transactions, want %v in 2", got, s.n, want)
	}
	fits(t, db)
}

// TestUpdatesNotWritten: where the shared transaction was not written, nobody is told that it was,
// and who wrote nothing is answered by what is on disk.
func TestUpdatesNotWritten(t *testing.T) {
	d, s, db := slowDisk()
	full := errors.New("full")
	s.commit = func(n int) error {
		if n == 2 {
			return full
		}
		return nil
	}
	reads := func(t state.Txn) error {
		_, err := t.Get("record/1")
		return err
	}
	answers := d.begin(sets("record/0"), sets("record/1"), reads)
	close(s.turn)
	for i, want := range []error{nil, full, state.ErrNotFound} {
		if err := <-answers[i]; !errors.Is(err, want) {
			t.Errorf("call %d: %v, want %v", i, err, want)
		}
	}
	if got := content(t, db, "record/"); len(got) != 1 {
		t.Errorf("there is %v", got)
	}
	fits(t, db)
}

// TestUpdatesTooBig: what does not fit one transaction is written in several.
func TestUpdatesTooBig(t *testing.T) {
	d, s, db := slowDisk()
	const calls, size = 10, 100 << 10
	var fns []func(state.Txn) error
	for i := range calls {
		fns = append(fns, func(t state.Txn) error { return t.Set("record/"+strconv.Itoa(i), make([]byte, size)) })
	}
	answers := d.begin(fns...)
	close(s.turn)
	for i, a := range answers {
		if err := <-a; err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if got := content(t, db, "record/"); len(got) != calls || s.n < calls*size/(bytesTogether+size) || s.n >= calls {
		t.Errorf("%d of %d values in %d transactions", len(got), calls, s.n)
	}
}

// TestUpdatesAsAlone: whoever shares whatever with whom, the database has what it has when each
// goes alone, in the same order.
func TestUpdatesAsAlone(t *testing.T) {
	keys := []string{"record/a", "record/b", "hold/a/1", "rack", "lease/x/1", "event/1"}
	rapid.Check(t, func(t *rapid.T) {
		d, s, db := slowDisk()
		other := statetest.NewMemory()
		alone := &disk{db: other, partBytes: partBytes, write: make(chan struct{}, 1)}
		var fns []func(state.Txn) error
		var seen, seenAlone sync.Map
		note := &seen
		for i := range rapid.IntRange(1, 8).Draw(t, "calls") {
			ops := rapid.SliceOfN(rapid.IntRange(0, 4*len(keys)-1), 0, 6).Draw(t, "ops")
			fails := rapid.IntRange(0, 3).Draw(t, "fails") == 0
			fns = append(fns, func(x state.Txn) error {
				var log []string
				for j, op := range ops {
					key := keys[op/4]
					var err error
					switch op % 4 {
					case 0:
						err = x.Delete(key)
					case 1:
						v, gone := x.Get(key)
						log = append(log, fmt.Sprintf("%s %q %v", key, v, gone))
					default:
						err = x.Set(key, fmt.Appendf(nil, "%d.%d", i, j))
					}
					if err != nil {
						return err
					}
				}
				note.Store(i, log)
				if fails {
					return errNothing
				}
				return nil
			})
		}
		answers := d.begin(fns...)
		close(s.turn)
		var errs []error
		for _, a := range answers {
			errs = append(errs, <-a)
		}
		note = &seenAlone
		for i, fn := range fns {
			if err := alone.update(fn); !errors.Is(err, errs[i]) {
				t.Fatalf("call %d: %v together, %v alone", i, errs[i], err)
			}
			one, _ := seen.Load(i)
			two, _ := seenAlone.Load(i)
			if !slices.Equal(one.([]string), two.([]string)) { //nolint:forcetypeassert // as stored above
				t.Fatalf("call %d saw %v together and %v alone", i, one, two)
			}
		}
		if len(fns) > 2 && s.n > 2 {
			t.Fatalf("%d transactions of %d calls", s.n, len(fns))
		}
		got, want := map[string]string{}, map[string]string{}
		for db, into := range map[state.Store]map[string]string{db: got, other: want} {
			_ = db.View(func(x state.Txn) error {
				return x.Scan("", func(key string, raw []byte) error {
					if key != keyHead { // it counts the transactions
						into[key] = string(raw)
					}
					return nil
				})
			})
		}
		if !maps.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		fits(t, db)
	})
}

// BenchmarkUpdate is of one writer and of fifty, as of the servers of a rack that boots, on a real
// disk.
func BenchmarkUpdate(b *testing.B) {
	for _, writers := range []int{1, 50} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			db, err := badger.Open(badger.Config{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			d := &disk{db: db, partBytes: partBytes, write: make(chan struct{}, 1)}
			var next atomic.Int64
			var group sync.WaitGroup
			b.ResetTimer()
			for range writers {
				group.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						if err := d.update(sets(fmt.Sprintf("record/s%03d", i%100))); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
		})
	}
}
