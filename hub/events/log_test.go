package events

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// slowLog is a log whose answers come later than what it has stored, and in another order.
type slowLog struct {
	state.Log

	reads atomic.Int64
}

// Append implements state.Log.
func (l *slowLog) Append(ctx context.Context, subject string, data []byte, id string) (uint64, error) {
	seq, err := l.Log.Append(ctx, subject, data, id)
	time.Sleep(rand.N(earlyWait / 4))
	return seq, err
}

// Read implements state.Log.
func (l *slowLog) Read(ctx context.Context, subject string, from uint64, limit int) ([]state.Record, error) {
	l.reads.Add(1)
	return l.Log.Read(ctx, subject, from, limit)
}

// Many file at once, and each event is shown after those before it, as soon as its filer is told. Nothing is read from
// the log for that, unless somebody else files too: then it is read for what is missing, and nothing stays waiting.
func TestFiledAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := storetest.NewMemory()
		slow := &slowLog{Log: kv}
		s, err := store.Open(t.Context(), store.Config{KV: kv, Log: slow, Clock: time.Now, NewID: func() string { return "id" }})
		if err != nil {
			t.Fatal(err)
		}
		log, err := Open(t.Context(), Config{Store: s, Clock: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		const filers, each = 16, 50
		file := func() {
			var all sync.WaitGroup
			for f := range filers {
				all.Go(func() {
					for i := range each {
						code := resource.EventCode(fmt.Sprintf("c%d-%d", f, i))
						before := log.Newest()
						if err := log.Add(t.Context(), api.EventRecord{Event: resource.Event{Code: code}}, ""); err != nil {
							t.Error(err)
						}
						shown := false
						for _, ev := range log.After(before, Kept) {
							shown = shown || ev.Code == code
						}
						if !shown {
							t.Errorf("%s is not shown to who filed it", code)
						}
					}
				})
			}
			all.Wait()
		}
		opened := slow.reads.Load()
		file()
		if n := slow.reads.Load() - opened; n > 0 {
			t.Errorf("the log was read %d times", n)
		}
		var others sync.WaitGroup
		others.Go(func() { // another hub
			for range each {
				time.Sleep(rand.N(earlyWait))
				if _, err := kv.Append(t.Context(), eventSubject, []byte(`{"code":"other"}`), ""); err != nil {
					t.Error(err)
				}
			}
		})
		file()
		others.Wait()
		if err := log.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
		all := log.After(0, Kept)
		for i, ev := range all {
			if ev.Index != uint64(i)+1 {
				t.Fatalf("the event after %d has the index %d", i, ev.Index)
			}
		}
		if want := 2*filers*each + each; len(all) != want || len(log.ahead) != 0 {
			t.Errorf("%d events are shown, not %d, and %d wait", len(all), want, len(log.ahead))
		}
	})
}
