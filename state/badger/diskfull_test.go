package badger_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/badger"
	"rackboot/state/statetest"
)

// A full disk of 96 MiB refuses writes and nothing else. Without the check for
// free space the process dies of SIGBUS, see doc.go.
func TestFullDisk(t *testing.T) {
	statetest.SmallDisk(t, 96, func(t *testing.T, dir string) { fullDisk(t, filepath.Join(dir, "store")) })
}

func fullDisk(t *testing.T, dir string) {
	cfg := badger.Config{Dir: dir, MinFree: 64 << 20}
	s, err := badger.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(filepath.Dir(dir), "ballast")
	calls := map[string]func(func(state.Txn) error) error{
		"Update": s.Update,
		"Batch":  func(fn func(state.Txn) error) error { return s.Batch(t.Context(), fn) },
	}
	for _, free := range []int64{63 << 20, 0} {
		statetest.Fill(t, ballast, free)
		for name, call := range calls {
			err := call(writePair("full"))
			if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), dir) || !strings.Contains(protocol.HintOf(err), "free space") {
				t.Errorf("%s with %d bytes free: %s, %v", name, free, protocol.CodeOf(err), err)
			}
		}
		err := s.View(func(tx state.Txn) error { _, err := tx.Get("a/full"); return err })
		if !errors.Is(err, state.ErrNotFound) {
			t.Errorf("a refused write is there, or reading fails: %v", err)
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for name, call := range calls {
		if err := call(writePair(name)); err != nil {
			t.Errorf("%s after space came back: %v", name, err)
		}
	}
	// Writing until the disk is full ends in the error, not in a signal, and
	// the store opens again.
	err = nil
	for i := 0; err == nil; i++ {
		err = s.Update(func(tx state.Txn) error { return tx.Set("fill/"+strconv.Itoa(i), make([]byte, 100<<10)) })
	}
	if protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("filled up: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close on a full disk: %v", err)
	}
	statetest.Fill(t, ballast, 63<<20)
	if _, err := badger.Open(cfg); protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), dir) {
		t.Errorf("Open on a full disk: %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	cfg.MinFree -= 4 << 20 // the data alone may leave a little less
	if s, err = badger.Open(cfg); err != nil {
		t.Fatal(err)
	}
	err = s.View(func(tx state.Txn) error { _, err := tx.Get("b/Batch"); return err })
	if err := errors.Join(err, s.Close()); err != nil {
		t.Error(err)
	}
}
