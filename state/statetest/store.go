package statetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	"rackboot/protocol"
	"rackboot/state"
)

// TestStore is the conformance suite of state.Store. open returns an empty
// store; the suite closes it.
func TestStore(t *testing.T, open func(*testing.T) state.Store) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, state.Store)
	}{
		{"read what was written", storeReadWrite},
		{"edge keys and values", storeEdges},
		{"scan", storeScan},
		{"an error aborts", storeAbort},
		{"view is a snapshot", storeSnapshot},
		{"view does not write", storeViewReadOnly},
		{"no lost update", storeNoLostUpdate},
		{"no phantom", storeNoPhantom},
		{"batch: one failure is alone", storeBatchFailure},
		{"batch: context", storeBatchContext},
		{"closed", storeClosed},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			c.run(t, s)
		})
	}
}

// writers are the two ways to write; most cases hold for both.
func writers(t *testing.T, s state.Store) map[string]func(func(state.Txn) error) error {
	return map[string]func(func(state.Txn) error) error{
		"Update": s.Update,
		"Batch":  func(fn func(state.Txn) error) error { return s.Batch(t.Context(), fn) },
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// dump reads all keys below prefix as "key=value".
func dump(t *testing.T, s state.Store, prefix string) []string {
	t.Helper()
	var out []string
	must(t, s.View(func(tx state.Txn) error {
		return tx.Scan(prefix, func(k string, v []byte) error {
			out = append(out, k+"="+string(v))
			return nil
		})
	}))
	return out
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func set(key, value string) func(state.Txn) error {
	return func(tx state.Txn) error { return tx.Set(key, []byte(value)) }
}

func storeReadWrite(t *testing.T, s state.Store) {
	for name, write := range writers(t, s) {
		must(t, write(func(tx state.Txn) error {
			if _, err := tx.Get(name); !errors.Is(err, state.ErrNotFound) || protocol.CodeOf(err) != protocol.CodeNotFound {
				t.Errorf("%s: Get of a missing key: %v", name, err)
			}
			buf := []byte("one")
			if err := tx.Set(name, buf); err != nil {
				return err
			}
			copy(buf, "two") // the caller's buffer is the caller's again
			v, err := tx.Get(name)
			if string(v) != "one" {
				t.Errorf("%s: own write read as %q", name, v)
			}
			return err
		}))
		want(t, dump(t, s, name), name+"=one")
		must(t, write(func(tx state.Txn) error { return errors.Join(tx.Delete(name), tx.Delete("missing")) }))
		want(t, dump(t, s, ""))
	}
}

func storeEdges(t *testing.T, s state.Store) {
	if err := s.Update(set("", "x")); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("Set of the empty key: %v", err)
	}
	big := bytes.Repeat([]byte{0xff}, 128<<10) // the largest document on the link
	key := "\x00\xff" + string(bytes.Repeat([]byte("k"), 1000))
	must(t, s.Update(func(tx state.Txn) error {
		return errors.Join(tx.Set("empty", nil), tx.Set("big", big), tx.Set(key, []byte("v")))
	}))
	must(t, s.View(func(tx state.Txn) error {
		if v, err := tx.Get("empty"); len(v) != 0 || err != nil {
			t.Errorf("empty value read as %q, %v", v, err)
		}
		if v, err := tx.Get("big"); !bytes.Equal(v, big) {
			t.Errorf("a value of %d bytes read as %d bytes, %v", len(big), len(v), err)
		}
		v, err := tx.Get(key)
		if string(v) != "v" {
			t.Errorf("binary key read as %q", v)
		}
		return err
	}))
}

func storeScan(t *testing.T, s state.Store) {
	var all []string
	must(t, s.Update(func(tx state.Txn) error {
		for i := 299; i >= 0; i-- { // more than any page of an implementation
			if err := tx.Set(fmt.Sprintf("n/%03d", i), nil); err != nil {
				return err
			}
		}
		return errors.Join(tx.Set("m", nil), tx.Set("n0", nil))
	}))
	for i := range 300 {
		all = append(all, fmt.Sprintf("n/%03d=", i))
	}
	want(t, dump(t, s, "n/"), all...)
	stop := errors.New("stop")
	must(t, s.Update(func(tx state.Txn) error {
		must(t, errors.Join(tx.Set("n/000", []byte("new")), tx.Delete("n/001")))
		var got []string
		err := tx.Scan("n/", func(k string, v []byte) error {
			got = append(got, k+"="+string(v))
			if len(got) == 2 {
				return stop
			}
			// A scan and a write inside a scan are allowed.
			return errors.Join(tx.Scan("m", func(string, []byte) error { return nil }), tx.Set("m", []byte("in scan")))
		})
		if !errors.Is(err, stop) {
			t.Errorf("Scan returned %v, not the error of fn", err)
		}
		want(t, got, "n/000=new", "n/002=")
		return nil
	}))
	want(t, dump(t, s, "m"), "m=in scan")
}

func storeAbort(t *testing.T, s state.Store) {
	abort := errors.New("abort")
	for name, write := range writers(t, s) {
		err := write(func(tx state.Txn) error { return errors.Join(tx.Set(name, nil), abort) })
		if !errors.Is(err, abort) {
			t.Errorf("%s returned %v, not the error of fn", name, err)
		}
	}
	want(t, dump(t, s, ""))
}

func storeSnapshot(t *testing.T, s state.Store) {
	must(t, s.Update(set("a", "1")))
	must(t, s.View(func(tx state.Txn) error {
		done := make(chan error)
		go func() { done <- s.Update(set("a", "2")) }() // a reader does not stop it
		must(t, <-done)
		v, err := tx.Get("a")
		if string(v) != "1" {
			t.Errorf("the snapshot shows the later write %q", v)
		}
		return err
	}))
	want(t, dump(t, s, ""), "a=2")
}

func storeViewReadOnly(t *testing.T, s state.Store) {
	must(t, s.View(func(tx state.Txn) error {
		if err := tx.Set("a", nil); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("Set in a View: %v", err)
		}
		if err := tx.Delete("a"); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("Delete in a View: %v", err)
		}
		return nil
	}))
}

// storeNoLostUpdate adds one to a counter from many goroutines both ways.
func storeNoLostUpdate(t *testing.T, s state.Store) {
	const workers, rounds = 8, 10
	add := func(tx state.Txn) error {
		v, err := tx.Get("n")
		if err != nil && !errors.Is(err, state.ErrNotFound) {
			return err
		}
		n, _ := strconv.Atoi(string(v))
		return tx.Set("n", []byte(strconv.Itoa(n+1)))
	}
	var wg sync.WaitGroup
	for _, write := range writers(t, s) {
		for range workers {
			wg.Go(func() {
				for range rounds {
					if err := write(add); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	want(t, dump(t, s, ""), "n="+strconv.Itoa(2*workers*rounds))
}

// storeNoPhantom lets each of many writers add a key only if it sees none: a
// hold that appears in a range that a power-on has scanned must not be missed.
func storeNoPhantom(t *testing.T, s state.Store) {
	for round := range 5 {
		prefix := fmt.Sprintf("p%d/", round)
		var wg sync.WaitGroup
		for name, write := range writers(t, s) {
			for i := range 8 {
				wg.Go(func() {
					err := write(func(tx state.Txn) error {
						n := 0
						err := tx.Scan(prefix, func(string, []byte) error { n++; return nil })
						if err != nil || n > 0 {
							return err
						}
						return tx.Set(fmt.Sprintf("%s%s%d", prefix, name, i), nil)
					})
					if err != nil && !errors.Is(err, state.ErrConflict) {
						t.Error(err)
					}
				})
			}
		}
		wg.Wait()
		if got := dump(t, s, prefix); len(got) != 1 {
			t.Errorf("each saw an empty range, but there are %q", got)
		}
	}
}

func storeBatchFailure(t *testing.T, s state.Store) {
	fail := errors.New("fail")
	var wg sync.WaitGroup
	var wants []string
	for i := range 60 {
		key := fmt.Sprintf("k%02d", i)
		if i%3 == 0 {
			wants = append(wants, key+"=")
		}
		wg.Go(func() {
			err := s.Batch(t.Context(), func(tx state.Txn) error {
				switch i % 3 {
				case 0:
					return tx.Set(key, nil)
				case 1:
					return fail
				}
				return errors.Join(tx.Set(key, nil), fail)
			})
			if errors.Is(err, fail) != (i%3 != 0) {
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	want(t, dump(t, s, ""), wants...)
}

func storeBatchContext(t *testing.T, s state.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Batch(ctx, set("a", "1"))
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Batch with an ended context: %v", err)
	}
}

func storeClosed(t *testing.T, s state.Store) {
	must(t, s.Close())
	calls := writers(t, s)
	calls["View"] = s.View
	for name, call := range calls {
		err := call(func(state.Txn) error { t.Errorf("%s ran fn", name); return nil })
		if !errors.Is(err, state.ErrClosed) || protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
}
