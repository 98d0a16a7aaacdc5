package daemon

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/protocol"
	"rackboot/state/jetstream"
)

// A hub whose store has lost what was acknowledged does not start: the server within it opens
// what it can read. Who goes on with what is left says so.
func TestStoreThatLostSomething(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, streams string){
		"a flipped byte": func(t *testing.T, streams string) {
			file := filepath.Join(streams, "rackboot", "msgs", "1.blk")
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			raw[len(raw)/3] ^= 0x10
			if err := errors.Join(os.WriteFile(file, raw, 0o600), os.Remove(filepath.Join(streams, "rackboot", "msgs", "index.db"))); err != nil {
				t.Fatal(err)
			}
		},
		"a block that is gone": func(t *testing.T, streams string) {
			if err := os.Remove(filepath.Join(streams, "rackboot", "msgs", "1.blk")); err != nil {
				t.Fatal(err)
			}
		},
		"all that it had": func(t *testing.T, streams string) {
			if err := os.RemoveAll(streams); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := ownHub(t)
			started(t, c)
			started(t, c)
			spoil(t, c.path("store/jetstream/$G/streams"))
			for range 2 { // the first try has taken nothing for a fact
				err := runOnce(t, c)
				if protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "" {
					t.Fatalf("%v", err)
				}
			}
			if _, err := RaiseEpoch(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			started(t, c)
		})
	}
}

// What says how much there was may itself be damaged: that is no loss.
func TestDamagedExtent(t *testing.T) {
	t.Parallel()
	c := ownHub(t)
	started(t, c)
	for _, text := range []string{"", "soon", `{"rackboot": 7}`} {
		if err := os.WriteFile(c.path(extentFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		started(t, c)
		if raw, err := os.ReadFile(c.path(extentFile)); err != nil || !bytes.Contains(raw, []byte("rackboot-log")) {
			t.Errorf("%q: then %s, %v", text, raw, err)
		}
	}
}

func TestCovers(t *testing.T) {
	was := jetstream.Extent{Sequence: 9, Messages: 5, Keys: 3}
	for _, row := range []struct {
		is   jetstream.Extent
		want bool
	}{
		{was, true},
		{jetstream.Extent{Sequence: 10, Messages: 5, Keys: 3}, true},
		{jetstream.Extent{Sequence: 8, Messages: 5, Keys: 3}, false},
		{jetstream.Extent{Sequence: 12, Messages: 4, Keys: 3}, false},
		{jetstream.Extent{Sequence: 12, Messages: 9, Keys: 2}, false},
		{jetstream.Extent{}, false},
	} {
		if got := row.is.Covers(was); got != row.want {
			t.Errorf("%+v covers %+v: %t", row.is, was, got)
		}
	}
}

// stream is one whose extent, and health, a test says.
type stream struct {
	n    atomic.Uint64
	sick atomic.Bool
}

func (s *stream) Extent(context.Context) (jetstream.Extent, error) {
	n := s.n.Load()
	return jetstream.Extent{Sequence: n, Messages: n, Keys: n}, nil
}

func (s *stream) healthy() error {
	if s.sick.Load() {
		return errors.New("no space left")
	}
	return nil
}

// What is written was so a look before, with a store that was healthy since; and a store that
// has less than was written does not become the measure.
func TestFollowExtents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, path := &stream{}, filepath.Join(t.TempDir(), extentFile)
		x := &extents{path: path, streams: map[string]measured{"s": s}, log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- x.follow(ctx, s.healthy) }()
		written := func(n, want uint64) {
			t.Helper()
			now := &extents{path: path, log: x.log}
			if now.read(); now.written["s"].Sequence != want {
				t.Errorf("with %d, %d is written, want %d", n, now.written["s"].Sequence, want)
			}
		}
		at := func(d time.Duration, n, want uint64) {
			t.Helper()
			s.n.Store(n)
			time.Sleep(d)
			synctest.Wait()
			written(n, want)
		}
		at(extentEvery, 5, 0)
		at(extentEvery, 7, 5)
		s.sick.Store(true)
		at(3*extentEvery, 9, 5)
		s.sick.Store(false)
		at(extentEvery, 8, 5) // what was seen before does not count
		at(extentEvery, 8, 8)
		at(3*extentEvery, 6, 8)
		s.n.Store(11)
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		written(11, 11)
	})
}
