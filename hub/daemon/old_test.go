package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/state"
)

// Deletions go when they are old by a clock that has been steady for a while, and the store is healthy.
func TestDeletionsGo(t *testing.T) {
	const day = 24 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		mem, off, sick, busy := storetest.NewMemory(), atomic.Int64{}, atomic.Bool{}, atomic.Bool{}
		d := &old{
			kv: mem, busy: busy.Load, clock: func() time.Time { return time.Now().Add(time.Duration(off.Load())) }, log: slog.New(slog.DiscardHandler),
			healthy: func() error {
				if sick.Load() {
					return errors.New("no space left")
				}
				return nil
			},
		}
		var asked, steady atomic.Int64
		keep := Events{}.keeper(func(_ context.Context, before time.Time, maxBytes uint64) error {
			if maxBytes != eventQuotaMiB<<20 || !before.IsZero() && (time.Since(before)-eventAge).Abs() > time.Minute {
				t.Errorf("events before %s go, and those beyond %d bytes", before, maxBytes)
			}
			if asked.Add(1); !before.IsZero() {
				steady.Add(1)
			}
			return errors.New("which is logged")
		})
		d.events = keep
		remove := func(keys ...string) {
			t.Helper()
			for _, key := range keys {
				r, err := mem.Create(t.Context(), key, nil)
				if err == nil {
					err = mem.Delete(t.Context(), key, r)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		kept := func(what string, d time.Duration, want bool) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			_, err := mem.Watch(done(), "", 0)
			if (err == nil) != want {
				t.Errorf("%s: deletions are kept: %t, %v", what, err == nil, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- d.run(ctx) }()
		remove("a")
		kept("a day", day, true)
		off.Store(int64(400 * day))
		was := steady.Load()
		kept("the clock is 400 days ahead", steadyFor-oldEvery, true)
		if n := steady.Load() - was; n != 0 {
			t.Errorf("events are cut off %d times by a clock that was ahead", n)
		}
		off.Store(0)
		kept("it is right again", 5*day, true)
		sick.Store(true)
		kept("old, and the store takes no writes", 2*day, true)
		sick.Store(false)
		busy.Store(true)
		kept("old, and the store is being copied", 2*oldEvery, true)
		busy.Store(false)
		kept("old", 2*oldEvery, false)
		if all, some := asked.Load(), steady.Load(); some == 0 || all <= some {
			t.Errorf("it was looked %d times for events, %d times with a clock that was steady", all, some)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// More than goes at once is gone after one look.
func TestManyDeletionsGo(t *testing.T) {
	mem := storetest.NewMemory()
	ops := make([]state.Op, 2*state.MaxForget+1)
	for i := range ops {
		ops[i] = state.Op{Kind: state.OpCreate, Key: fmt.Sprintf("k.%04d", i)}
	}
	revs, err := mem.Commit(t.Context(), ops)
	if err != nil {
		t.Fatal(err)
	}
	for i := range ops {
		ops[i] = state.Op{Kind: state.OpDelete, Key: ops[i].Key, Revision: revs[i]}
	}
	if _, err := mem.Commit(t.Context(), ops); err != nil {
		t.Fatal(err)
	}
	d := &old{kv: mem, log: slog.New(slog.DiscardHandler)}
	if err := d.forget(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n, err := mem.Forget(t.Context(), time.Now().Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("%d are left, %v", n, err)
	}
}

// done is a context that has ended: nothing follows it.
func done() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
