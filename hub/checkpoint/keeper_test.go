package checkpoint

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/state/heads"
)

// stream is one whose extent, and health, a test says.
type stream struct {
	n    atomic.Uint64
	sick atomic.Bool
}

func (s *stream) Extent(context.Context) (heads.Extent, error) {
	n := s.n.Load()
	return heads.Extent{Sequence: n, Messages: n, Keys: n}, nil
}

func (s *stream) healthy() error {
	if s.sick.Load() {
		return errors.New("no space left")
	}
	return nil
}

// What is written was so a look before, with a store that was healthy since; and a store that
// has less than was written does not become the measure: it is only read from then on.
func TestFollowHeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := storetest.NewMemory()
		st, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: time.Now, NewID: func() string { return "id" }})
		if err != nil {
			t.Fatal(err)
		}
		s, path := &stream{}, filepath.Join(t.TempDir(), "heads")
		k := New(Config{Path: path, Streams: Streams{"s": s}, Store: st, ID: "one", Logger: slog.New(slog.DiscardHandler)}, heads.Record{})
		done := make(chan error)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { done <- k.Follow(ctx, s.healthy) }()
		at := func(d time.Duration, n, want uint64, key string) {
			t.Helper()
			s.n.Store(n)
			time.Sleep(d)
			synctest.Wait()
			r, _, err := ReadRecord(path)
			if err != nil || r.Streams["s"].Sequence != want || want > 0 && !r.Whole {
				t.Errorf("with %d, %d is written, want %d; whole %t, %v", n, r.Streams["s"].Sequence, want, r.Whole, err)
			}
			if _, there := r.Keys[key]; key != "" && !there {
				t.Errorf("with %d, %s is not written", n, key)
			}
		}
		at(Every, 5, 0, "")
		at(Every, 7, 5, "")
		if err := st.Meta.Put(t.Context(), "x", []byte("1"), 0); err != nil {
			t.Fatal(err)
		}
		at(2*Every, 8, 8, "meta.x")
		s.sick.Store(true)
		at(3*Every, 9, 8, "")
		s.sick.Store(false)
		if err := st.Meta.Put(t.Context(), "y", []byte("1"), 0); err != nil {
			t.Fatal(err)
		}
		at(Every, 8, 8, "") // what was seen before does not count
		at(Every, 10, 8, "meta.y")
		at(Every, 10, 10, "meta.y")
		at(3*Every, 6, 10, "")
		if st.Lost() == nil {
			t.Error("a store that has less is not known to have lost something")
		}
		if err := st.Meta.Put(t.Context(), "z", nil, 0); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("and is written to: %v", err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}
