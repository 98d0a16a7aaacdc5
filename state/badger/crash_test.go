package badger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rackboot/state"
	"rackboot/state/badger"
	"rackboot/state/statetest"
)

// writePair writes two keys that must appear together.
func writePair(name string) func(state.Txn) error {
	return func(tx state.Txn) error {
		return errors.Join(tx.Set("a/"+name, []byte(name)), tx.Set("b/"+name, []byte(name)))
	}
}

// checkPairs reads the names of the pairs and reports half ones and lost ones.
func checkPairs(t *testing.T, dir string, acked []string) []string {
	t.Helper()
	s := open(t, badger.Config{Dir: dir})
	var a, b []string
	err := s.View(func(tx state.Txn) error {
		for prefix, names := range map[string]*[]string{"a/": &a, "b/": &b} {
			err := tx.Scan(prefix, func(key string, value []byte) error {
				if key[2:] != string(value) {
					t.Errorf("%s holds %q", key, value)
				}
				*names = append(*names, key[2:])
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a, b) {
		t.Errorf("half a transaction: %q and %q", a, b)
	}
	for _, name := range acked {
		if !slices.Contains(a, name) {
			t.Errorf("acknowledged %s is lost", name)
		}
	}
	if err := s.Update(writePair("after")); err != nil {
		t.Errorf("write after the crash: %v", err)
	}
	return a
}

func TestCrashPoints(t *testing.T) {
	statetest.Points(t, func(run statetest.Run) {
		s, err := badger.Open(badger.Config{Dir: run.Dir, MinFree: 1, Crash: run.Crash})
		if err != nil {
			panic(err)
		}
		write := func(name string, err error) {
			if err != nil {
				panic(err)
			}
			run.Ack(name)
		}
		for i := range 2 {
			name := fmt.Sprintf("update%d", i)
			write(name, s.Update(writePair(name)))
			name = fmt.Sprintf("batch%d", i)
			write(name, s.Batch(context.Background(), writePair(name)))
		}
	}, func(t *testing.T, k statetest.Kill) {
		got := checkPairs(t, k.Dir, k.Acked)
		// What was on disk when the process died is there, told or not; what was
		// not committed is not.
		more := 0
		if strings.HasSuffix(k.Point, "/committed") {
			more = 1
		}
		if len(got) != len(k.Acked)+more {
			t.Errorf("%d acknowledged, but %q found", len(k.Acked), got)
		}
	})
}

// A process killed at a random moment under many writers of both kinds keeps
// what it acknowledged, and no half transaction. Run with -count for more.
func TestKilledKeepsAcknowledged(t *testing.T) {
	dir, acked := statetest.KillAfter(t, 1+rand.IntN(2000), func(dir string, ack func(string)) {
		s, err := badger.Open(badger.Config{Dir: dir, MinFree: 1})
		if err != nil {
			panic(err)
		}
		for w := range 16 {
			go func() {
				for i := 0; ; i++ {
					name := strconv.Itoa(w) + "-" + strconv.Itoa(i)
					write := s.Update
					if w%4 != 0 {
						write = func(fn func(state.Txn) error) error { return s.Batch(context.Background(), fn) }
					}
					if err := write(writePair(name)); err != nil {
						panic(err)
					}
					ack(name)
				}
			}()
		}
		select {} // until the kill
	})
	got := checkPairs(t, dir, acked)
	t.Logf("killed after %d acknowledged writes, %d found", len(acked), len(got))
}
