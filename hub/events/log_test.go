package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// slowLog is a log that takes its time, as a disk does, and counts.
type slowLog struct {
	state.Log

	took           time.Duration
	reads, appends atomic.Int64
	fail           func() error // after an append was done
}

// AppendAfter implements state.Log.
func (l *slowLog) AppendAfter(ctx context.Context, subject string, data []byte, last uint64) (uint64, error) {
	l.appends.Add(1)
	time.Sleep(l.took)
	seq, err := l.Log.AppendAfter(ctx, subject, data, last)
	if err == nil && l.fail != nil {
		err = l.fail()
	}
	return seq, err
}

// Read implements state.Log.
func (l *slowLog) Read(ctx context.Context, subject string, from uint64, limit int) ([]state.Record, error) {
	l.reads.Add(1)
	return l.Log.Read(ctx, subject, from, limit)
}

func open(t *testing.T, kv *storetest.Memory, log state.Log) *Log {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{KV: kv, Log: log, Clock: time.Now, NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	l, err := Open(t.Context(), Config{Store: s, Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func coded(format string, args ...any) Item {
	code := fmt.Sprintf(format, args...)
	return Item{api.EventRecord{Event: resource.Event{Code: resource.EventCode(code)}}, code}
}

func codes(events []api.EventRecord) (out []string) {
	for _, ev := range events {
		out = append(out, string(ev.Code))
	}
	return out
}

// numbered holds that events are numbered through.
func numbered(t *testing.T, events []api.EventRecord) {
	t.Helper()
	for i := range events {
		if events[i].Index != events[0].Index+uint64(i) {
			t.Fatalf("the event at place %d has the index %d, the first %d", i, events[i].Index, events[0].Index)
		}
	}
}

// Many file at once: each event is shown once its filer is told, a record has many of them, and nothing is read from the
// log for that. Where another hub files too, each of the two has all in one order, and none twice.
func TestFiledAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := storetest.NewMemory()
		slow := &slowLog{Log: kv, took: 5 * time.Millisecond}
		one := open(t, kv, slow)
		const filers, each, batch = 40, 20, 3
		file := func(l *Log, hub string) {
			var all sync.WaitGroup
			for f := range filers {
				all.Go(func() {
					for i := range each {
						var items []Item
						for n := range batch {
							items = append(items, coded("%s-%d-%d-%d", hub, f, i, n))
						}
						before := l.Newest()
						if err := l.Add(t.Context(), items...); err != nil {
							t.Error(err)
						}
						at := -1
						for _, item := range items { // in their order
							is := slices.Index(codes(l.After(before, Kept)), item.ID)
							if is <= at {
								t.Errorf("%s is at place %d, the one before it at %d", item.ID, is, at)
							}
							at = is
						}
					}
				})
			}
			all.Wait()
		}
		opened := slow.reads.Load()
		file(one, "alone")
		if n := slow.reads.Load() - opened; n > 0 {
			t.Errorf("the log was read %d times", n)
		}
		if n := slow.appends.Load(); n > 2*each+2 {
			t.Errorf("%d records for %d events of %d filers", n, filers*each*batch, filers)
		}
		two := open(t, kv, slow)
		var both sync.WaitGroup
		both.Go(func() { file(one, "one") })
		both.Go(func() { file(two, "two") })
		both.Wait()
		for _, l := range []*Log{one, two} {
			if err := l.Follow(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		all := one.After(0, Kept)
		numbered(t, all)
		if !slices.Equal(codes(all), codes(two.After(0, Kept))) {
			t.Error("two hubs have the events in another order")
		}
		if n := len(all); n != 3*filers*each*batch {
			t.Errorf("%d events are shown, not %d", n, 3*filers*each*batch)
		}
		if n := len(slices.Compact(slices.Sorted(slices.Values(codes(all))))); n != len(all) {
			t.Errorf("%d of %d are different", n, len(all))
		}
	})
}

// What seemed to fail and is filed again is there once, also at another hub, and after a start. What never reached the log is
// filed.
func TestFiledAgain(t *testing.T) {
	for name, again := range map[string]func(kv *storetest.Memory, l, other *Log) *Log{
		"at the same hub": func(_ *storetest.Memory, l, _ *Log) *Log { return l },
		"at another one":  func(_ *storetest.Memory, _, other *Log) *Log { return other },
		"after a start":   func(kv *storetest.Memory, _, _ *Log) *Log { return open(t, kv, kv) },
	} {
		t.Run(name, func(t *testing.T) {
			kv := storetest.NewMemory()
			slow := &slowLog{Log: kv}
			l, other := open(t, kv, slow), open(t, kv, kv)
			slow.fail = func() error { return protocol.Errorf(protocol.CodeTimeout, "", "no answer") }
			if l.Add(t.Context(), coded("a"), coded("b")) == nil {
				t.Fatal("it was answered")
			}
			slow.fail = nil
			l = again(kv, l, other)
			if err := l.Add(t.Context(), coded("a"), coded("b"), coded("c")); err != nil {
				t.Fatal(err)
			}
			if got := codes(l.After(0, 10)); !slices.Equal(got, []string{"a", "b", "c"}) {
				t.Errorf("%v", got)
			}
		})
	}
}

// A caller that waits no longer is not waited for: what was not begun is not filed.
func TestLeft(t *testing.T) {
	kv := storetest.NewMemory()
	begun, on := make(chan struct{}), make(chan struct{})
	slow := &slowLog{Log: kv, fail: func() error { begun <- struct{}{}; <-on; return nil }}
	l := open(t, kv, slow)
	first := make(chan error, 1)
	go func() { first <- l.Add(t.Context(), coded("first")) }()
	<-begun
	ctx, stop := context.WithCancel(t.Context())
	second := make(chan error, 1)
	go func() { second <- l.Add(ctx, coded("second")) }()
	stop()
	if err := <-second; protocol.CodeOf(err) != protocol.CodeTimeout {
		t.Errorf("%v", err)
	}
	slow.fail = nil
	close(on)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if err := l.Add(t.Context(), coded("third")); err != nil {
		t.Error(err)
	}
	if got := codes(l.After(0, 10)); !slices.Equal(got, []string{"first", "third"}) {
		t.Errorf("%v", got)
	}
}

// An event that is too large for the store does not keep those of others from it.
func TestTooLarge(t *testing.T) {
	kv := storetest.NewMemory()
	refusing := &refusing{Log: kv, most: 2 * groupBytes}
	l := open(t, kv, refusing)
	large := coded("large")
	large.Event.Message = strings.Repeat("x", 3*groupBytes)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := l.Add(t.Context(), coded("small-%d", i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Go(func() {
		if err := l.Add(t.Context(), large); err == nil {
			t.Error("it was taken")
		}
	})
	all.Wait()
	if n := len(l.After(0, 100)); n != 20 {
		t.Errorf("%d are there", n)
	}
}

type refusing struct {
	state.Log

	most int
}

// AppendAfter implements state.Log.
func (r *refusing) AppendAfter(ctx context.Context, subject string, data []byte, last uint64) (uint64, error) {
	if len(data) > r.most {
		return 0, errors.New("maximum payload exceeded")
	}
	return r.Log.AppendAfter(ctx, subject, data, last)
}

// A log of the release 0.1.0 goes on: its events have the numbers of their records, and those that follow the next ones.
// From each number on exactly what comes after it is read, also what is not kept for printing, and by pages of any size.
func TestReadFromAnyNumber(t *testing.T) {
	kv := storetest.NewMemory()
	var want []uint64
	old := func(n int) {
		for range n {
			raw, err := json.Marshal(coded("old").Event)
			if err != nil {
				t.Fatal(err)
			}
			seq, err := kv.Append(t.Context(), eventSubject, raw, "")
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, seq)
			if rand.N(4) == 0 { // of others
				if _, err := kv.Append(t.Context(), "receipt.x", []byte("x"), ""); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	old(300)
	l := open(t, kv, kv)
	for len(want) < Kept+3000 { // the first 3,000 and more are not kept
		items := make([]Item, 1+rand.N(40))
		for i := range items {
			items[i] = coded("new-%d", len(want)+i)
		}
		if err := l.Add(t.Context(), items...); err != nil {
			t.Fatal(err)
		}
		for range items {
			want = append(want, want[len(want)-1]+1)
		}
		if rand.N(3) == 0 {
			if _, err := kv.Append(t.Context(), "receipt.x", []byte("x"), ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, l := range map[string]*Log{"running": l, "started": open(t, kv, kv)} {
		if l.Newest() != want[len(want)-1] {
			t.Fatalf("%s: the newest is %d, not %d", name, l.Newest(), want[len(want)-1])
		}
		if n := len(l.After(0, 2*Kept)); n > Kept || n < Kept/2 {
			t.Errorf("%s: %d are kept", name, n)
		}
		for range 80 {
			after := rand.Uint64N(want[len(want)-1] + 5)
			at, is := slices.BinarySearch(want, after)
			if is {
				at++
			}
			limit := 1 + rand.N(400)
			page := want[at:min(at+limit, len(want))]
			got, err := l.Read(t.Context(), after, limit)
			if err != nil {
				t.Fatal(err)
			}
			var indexes []uint64
			for _, ev := range got {
				indexes = append(indexes, ev.Index)
			}
			if !slices.Equal(indexes, page) {
				t.Fatalf("%s: %d after %d are %v, not %v", name, limit, after, indexes, page)
			}
		}
	}
}

// Where somebody has put an older log in its place, events are filed all the same, and their numbers go on.
func TestLogIsShorter(t *testing.T) {
	kv := storetest.NewMemory()
	cut := &shorter{Log: kv}
	l := open(t, kv, cut)
	if err := l.Add(t.Context(), coded("a"), coded("b")); err != nil {
		t.Fatal(err)
	}
	cut.hidden = 1
	if err := l.Add(t.Context(), coded("c")); err != nil {
		t.Fatal(err)
	}
	if all := l.After(0, 10); len(all) != 3 || all[2].Index != 3 {
		t.Errorf("%+v", all)
	}
}

// shorter is a log whose first records are there no longer.
type shorter struct {
	state.Log

	hidden uint64
}

// AppendAfter implements state.Log.
func (s *shorter) AppendAfter(ctx context.Context, subject string, data []byte, last uint64) (uint64, error) {
	switch {
	case s.hidden > 0 && last == s.hidden:
		return 0, protocol.Errorf(protocol.CodeConflict, "log append", "%w", state.ErrConflict)
	case s.hidden > 0 && last == 0:
		last = s.hidden
	}
	return s.Log.AppendAfter(ctx, subject, data, last)
}

// Tail implements state.Log.
func (s *shorter) Tail(ctx context.Context, subject string, limit int) ([]state.Record, error) {
	records, err := s.Log.Tail(ctx, subject, limit)
	return slices.DeleteFunc(records, func(r state.Record) bool { return r.Seq <= s.hidden }), err
}

// The ids of the newest events are known, and no more.
func TestSeen(t *testing.T) {
	var s seen
	for i := range remembered + 10 {
		s.add(fmt.Sprint(i))
		s.add(fmt.Sprint(i))
	}
	if s.has("9") || !s.has("10") || !s.has(fmt.Sprint(remembered+9)) || s.has("") || len(s.ids) != remembered {
		t.Errorf("%d ids are known", len(s.ids))
	}
}

// Whatever a record has, reading it does not end the hub.
func FuzzGroup(f *testing.F) {
	f.Add([]byte(`{"first":3,"events":[{"id":"a","event":{"code":"PowerOn"}},{"id":"b","event":{}}]}`), uint64(7))
	f.Add([]byte(`{"code":"PowerOn","index":0}`), uint64(7))
	f.Add([]byte(`{"first":18446744073709551615,"events":[{},{}]}`), uint64(1))
	f.Fuzz(func(t *testing.T, data []byte, seq uint64) {
		g, events, err := eventsOf(state.Record{Seq: seq, Subject: eventSubject, Data: data})
		if err != nil {
			return
		}
		if len(events) == 0 || len(events) != len(g.Events) || events[0].Index != g.First || events[len(events)-1].Index != g.last() {
			t.Errorf("%+v of %q", events, data)
		}
	})
}
