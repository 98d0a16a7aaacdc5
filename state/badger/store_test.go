package badger_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bdb "github.com/dgraph-io/badger/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/badger"
	"rackboot/state/statetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func open(t testing.TB, cfg badger.Config) *badger.Store {
	t.Helper()
	cfg.MinFree = 1
	s, err := badger.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestConformance(t *testing.T) {
	t.Run("disk", func(t *testing.T) {
		statetest.TestStore(t, func(t *testing.T) state.Store { return open(t, badger.Config{Dir: t.TempDir()}) })
	})
	t.Run("memory", func(t *testing.T) {
		statetest.TestStore(t, func(t *testing.T) state.Store { return open(t, badger.Config{InMemory: true}) })
	})
}

func TestOpenTwice(t *testing.T) {
	dir := t.TempDir()
	open(t, badger.Config{Dir: dir})
	_, err := badger.Open(badger.Config{Dir: dir, MinFree: 1})
	if protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), dir) || protocol.HintOf(err) == "" {
		t.Errorf("second Open: code %s, %v, hint %q", protocol.CodeOf(err), err, protocol.HintOf(err))
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, dir string)
		code    protocol.Code
	}{
		{"newer schema", func(t *testing.T, dir string) { writeSchema(t, dir, "2") }, protocol.CodeUnsupported},
		{"broken schema", func(t *testing.T, dir string) { writeSchema(t, dir, "x") }, protocol.CodeInternal},
		{"damaged manifest", func(t *testing.T, dir string) {
			writeSchema(t, dir, "1")
			if err := os.WriteFile(filepath.Join(dir, "MANIFEST"), []byte("not a manifest"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, protocol.CodeInternal},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.prepare(t, dir)
			s, err := badger.Open(badger.Config{Dir: dir, MinFree: 1})
			if err == nil {
				_ = s.Close()
			}
			if protocol.CodeOf(err) != c.code || !strings.Contains(err.Error(), dir) || protocol.HintOf(err) == "" && c.code != protocol.CodeInternal {
				t.Errorf("code %s, want %s: %v, hint %q", protocol.CodeOf(err), c.code, err, protocol.HintOf(err))
			}
		})
	}
	if _, err := badger.Open(badger.Config{}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("Open without a directory: %v", err)
	}
}

func writeSchema(t *testing.T, dir, version string) {
	t.Helper()
	db, err := bdb.Open(bdb.DefaultOptions(dir).WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(txn *bdb.Txn) error { return txn.Set([]byte("meta/schema"), []byte(version)) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestLimits(t *testing.T) {
	s := open(t, badger.Config{InMemory: true})
	for name, write := range map[string]func(func(state.Txn) error) error{
		"Update": s.Update,
		"Batch":  func(fn func(state.Txn) error) error { return s.Batch(t.Context(), fn) },
	} {
		for _, c := range []struct {
			name string
			fn   func(state.Txn) error
			code protocol.Code
		}{
			{"largest key", func(tx state.Txn) error { return tx.Set(strings.Repeat("k", badger.MaxKey), nil) }, ""},
			{"key too long", func(tx state.Txn) error { return tx.Set(strings.Repeat("k", badger.MaxKey+1), nil) }, protocol.CodeInvalid},
			{"largest value", func(tx state.Txn) error { return tx.Set("v", make([]byte, badger.MaxValue)) }, ""},
			{"value too long", func(tx state.Txn) error { return tx.Set("v", make([]byte, badger.MaxValue+1)) }, protocol.CodeInvalid},
			{"our key", func(tx state.Txn) error { return tx.Set("meta/schema", nil) }, protocol.CodeInvalid},
			{"our key deleted", func(tx state.Txn) error { return tx.Delete("meta/schema") }, protocol.CodeInvalid},
			{"Badger's key", func(tx state.Txn) error { return tx.Set("!badger!x", nil) }, protocol.CodeInvalid},
			{"too much at once", func(tx state.Txn) error {
				return errors.Join(tx.Set("a", make([]byte, badger.MaxValue)), tx.Set("b", make([]byte, badger.MaxValue)))
			}, protocol.CodeInvalid},
			{"too much, error dropped", func(tx state.Txn) error {
				_ = tx.Set("a", make([]byte, badger.MaxValue))
				_ = tx.Set("b", make([]byte, badger.MaxValue))
				return nil
			}, protocol.CodeInvalid},
		} {
			if err := write(c.fn); protocol.CodeOf(err) != c.code {
				t.Errorf("%s, %s: code %q, want %q: %v", name, c.name, protocol.CodeOf(err), c.code, err)
			}
		}
	}
	if err := s.View(func(tx state.Txn) error { _, err := tx.Get("a"); return err }); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("a transaction that was too big left a write: %v", err)
	}
}

// Calls that do not fit one transaction together are split over several.
func TestBatchSplits(t *testing.T) {
	s := open(t, badger.Config{InMemory: true})
	errs := make(chan error)
	const calls = 40
	for i := range calls {
		go func() {
			errs <- s.Batch(t.Context(), func(tx state.Txn) error {
				return tx.Set(string(rune('A'+i)), make([]byte, 100<<10))
			})
		}()
	}
	for range calls {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestMetrics(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	s := open(t, badger.Config{InMemory: true, Registerer: reg})
	if err := s.Batch(t.Context(), func(tx state.Txn) error { return tx.Set("a", nil) }); err != nil {
		t.Fatal(err)
	}
	problems, err := testutil.GatherAndLint(reg)
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
	if n, err := testutil.GatherAndCount(reg); err != nil || n != 3 {
		t.Errorf("%d metrics, %v", n, err)
	}
	if _, err := badger.Open(badger.Config{InMemory: true, Registerer: reg}); err == nil {
		t.Error("a second store with the same registry opened")
	}
}
