package badger_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/badger"
)

// first is a log whose first line has something done.
type first struct {
	slog.Handler

	do func()
}

func (f first) Handle(context.Context, slog.Record) error {
	f.do()
	return nil
}

// A copy that is put into the place of a store while that is opened is neither read nor changed by it, wherever in
// the opening that is.
func TestReplacedWhileItIsOpened(t *testing.T) {
	dir := t.TempDir()
	at, aside, gone := filepath.Join(dir, "state"), filepath.Join(dir, "aside"), filepath.Join(dir, "gone")
	put := func(dir, key string) {
		t.Helper()
		s := open(t, badger.Config{Dir: dir})
		if err := s.Update(func(x state.Txn) error { return x.Set(key, []byte("1")) }); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	put(at, "old")
	if err := os.CopyFS(aside, os.DirFS(at)); err != nil {
		t.Fatal(err)
	}
	put(aside, "new")
	swap := sync.OnceFunc(func() {
		if err := errors.Join(os.Rename(at, gone), os.Rename(aside, at)); err != nil {
			t.Error(err)
		}
	})
	s, err := badger.Open(badger.Config{Dir: at, MinFree: 1, Logger: slog.New(first{slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug - 10}), swap})})
	if err == nil {
		_ = s.Close() // it should not be there
		t.Fatal("a store that was replaced is opened")
	}
	if protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
	s = open(t, badger.Config{Dir: at})
	if err := s.View(func(x state.Txn) error {
		_, err := x.Get("new")
		return err
	}); err != nil {
		t.Errorf("what was put into its place: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
