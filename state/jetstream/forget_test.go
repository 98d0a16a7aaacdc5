package jetstream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"rackboot/state"
	"rackboot/state/heads"
	"rackboot/state/jetstream"
	"rackboot/state/statetest"
)

// come and go are commits that create keys and delete them again.
func comeAndGo(ctx context.Context, kv state.KV, keys int) error {
	ops := make([]state.Op, keys)
	for i := range ops {
		ops[i] = state.Op{Kind: state.OpCreate, Key: fmt.Sprintf("gone.%04d", i), Value: make([]byte, 100)}
	}
	revs, err := kv.Commit(ctx, ops)
	if err != nil {
		return err
	}
	for i := range ops {
		ops[i] = state.Op{Kind: state.OpDelete, Key: ops[i].Key, Revision: revs[i]}
	}
	_, err = kv.Commit(ctx, ops)
	return err
}

// extents checks that what a store says that it had never falls.
type extents struct {
	kv   *jetstream.KV
	most heads.Extent
}

func (x *extents) look(t *testing.T, what string) {
	t.Helper()
	e, err := x.kv.Extent(t.Context())
	if err != nil || !e.Covers(x.most) {
		t.Errorf("%s: %+v, %v; there were %+v", what, e, err, x.most)
	}
	x.most = e
}

// What was deleted leaves the store, and the store goes on saying how much it had.
func TestForgetEmpties(t *testing.T) {
	const keys = state.MaxForget + 4
	nc := testServer(t, t.TempDir())
	kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: nc, Name: "KV", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	x := &extents{kv: kv}
	if _, err := kv.Create(t.Context(), "stays", nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		x.look(t, "before")
		if err := comeAndGo(t.Context(), kv, keys); err != nil {
			t.Fatal(err)
		}
		x.look(t, "deleted")
		begun := time.Now()
		for _, want := range []int{state.MaxForget, keys - state.MaxForget, 0} {
			if n, err := kv.Forget(t.Context(), time.Now().Add(time.Hour)); n != want || err != nil {
				t.Fatalf("%d keys were forgotten, %v; want %d", n, err, want)
			}
			x.look(t, "forgotten")
		}
		t.Logf("%d keys were forgotten in %v", keys, time.Since(begun))
	}
	js, err := natsjs.New(nc, natsjs.WithDefaultTimeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), "KV")
	if err != nil {
		t.Fatal(err)
	}
	if st := s.CachedInfo().State; st.NumSubjects != 2 || st.Msgs > 17 {
		t.Errorf("%d messages with %d subjects are left", st.Msgs, st.NumSubjects)
	}
	if x.most.Messages < 2*2*keys || x.most.Keys < 2*keys {
		t.Errorf("it says that it had %+v", x.most)
	}
}

// Only what was deleted before the time goes.
func TestForgetBefore(t *testing.T) {
	kv := testKV(t, t.TempDir())
	var between time.Time
	for _, key := range []string{"a", "b", "c"} {
		r, err := kv.Create(t.Context(), key, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := kv.Delete(t.Context(), key, r); err != nil {
			t.Fatal(err)
		}
		if key == "a" {
			between = time.Now()
		}
	}
	for _, c := range []struct {
		before time.Time
		want   int
	}{{time.Now().Add(-time.Hour), 0}, {between, 1}, {between, 0}, {time.Now(), 2}} {
		if n, err := kv.Forget(t.Context(), c.before); n != c.want || err != nil {
			t.Errorf("%d keys were forgotten, %v; want %d", n, err, c.want)
		}
	}
}

// While keys come, go, come again and are forgotten, nothing ever seems to be lost.
func TestExtentNeverFalls(t *testing.T) {
	kv := testKV(t, t.TempDir())
	var working sync.WaitGroup
	for w := range 2 {
		working.Go(func() {
			for i := range 60 {
				key := fmt.Sprintf("k.%d.%d", w, i%4)
				r, err := kv.Create(t.Context(), key, nil)
				if err == nil {
					err = kv.Delete(t.Context(), key, r)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() {
		for {
			if _, err := kv.Forget(t.Context(), time.Now().Add(time.Hour)); err != nil {
				t.Error(err)
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	others.Go(func() {
		var most heads.Extent
		for n := 0; ; {
			if e, err := kv.Extent(t.Context()); err == nil { // too much may be going on
				if n++; !e.Covers(most) {
					t.Errorf("%+v after %+v", e, most)
				}
				most = e
			}
			select {
			case <-done:
				t.Logf("%d extents, the last of them %+v", n, most)
				return
			default:
			}
		}
	})
	working.Wait()
	close(done)
	others.Wait()
}

// A process that dies between the steps of a removal leaves nothing that comes back, and nothing that
// seems to be lost; who opens the store completes the removal.
func TestForgetKilled(t *testing.T) {
	open := func(dir string, crash state.Crasher) (*jetstream.KV, func()) {
		s, nc, err := startServer(dir)
		if err != nil {
			panic(err)
		}
		kv, err := jetstream.OpenKV(context.Background(), jetstream.Config{Conn: nc, Name: "KV", Timeout: patience, Crash: crash})
		if err != nil {
			panic(err)
		}
		return kv, func() { nc.Close(); s.Shutdown(); s.WaitForShutdown() }
	}
	statetest.Points(t, func(run statetest.Run) {
		ctx := context.Background()
		kv, _ := open(run.Dir, run.Crash)
		if _, err := kv.Create(ctx, "stays", []byte("1")); err != nil {
			panic(err)
		}
		if err := comeAndGo(ctx, kv, 2); err != nil {
			panic(err)
		}
		e, err := kv.Extent(ctx)
		if err != nil {
			panic(err)
		}
		raw, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		run.Ack(string(raw))
		if _, err := kv.Forget(ctx, time.Now().Add(time.Hour)); err != nil {
			panic(err)
		}
	}, func(t *testing.T, k statetest.Kill) {
		kv, end := open(k.Dir, nil)
		defer end()
		x := &extents{kv: kv}
		if err := json.Unmarshal([]byte(k.Acked[0]), &x.most); err != nil {
			t.Fatal(err)
		}
		alone := func() {
			t.Helper()
			x.look(t, k.Point)
			if entries, _, err := kv.List(t.Context(), ""); err != nil || len(entries) != 1 || entries[0].Key != "stays" {
				t.Errorf("there is %+v, %v", entries, err)
			}
		}
		alone()
		if _, err := kv.Create(t.Context(), "gone.0000", []byte("again")); err != nil {
			t.Fatal(err)
		}
		if _, err := kv.Forget(t.Context(), time.Time{}); err != nil {
			t.Fatal(err)
		}
		x.look(t, "completed")
		e, err := kv.Get(t.Context(), "gone.0000")
		if err != nil || string(e.Value) != "again" {
			t.Errorf("what was created again is %+v, %v", e, err)
		}
		if err := kv.Delete(t.Context(), "gone.0000", e.Revision); err != nil {
			t.Fatal(err)
		}
		if _, err := kv.Forget(t.Context(), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		alone()
	})
}

// What is forgotten between two steps of somebody else is not seen by him, and does not come back.
func TestForgottenBetween(t *testing.T) {
	const keys = 600 // more than a client fetches ahead
	kv := testKV(t, t.TempDir())
	var ops []state.Op
	for i := range keys {
		ops = append(ops, state.Op{Kind: state.OpCreate, Key: fmt.Sprintf("k.%04d", i)})
	}
	revs, err := kv.Commit(t.Context(), ops)
	if err != nil {
		t.Fatal(err)
	}
	remove := func(i int) {
		if err := kv.Delete(t.Context(), ops[i].Key, revs[i]); err != nil {
			t.Error(err)
		}
	}
	forgets := func(want int) {
		if n, err := kv.Forget(t.Context(), time.Now().Add(time.Hour)); n != want || err != nil {
			t.Errorf("%d keys were forgotten, %v; want %d", n, err, want)
		}
	}
	forget := func() { forgets(1) }
	once := func(step string, f func()) {
		kv.SetBetween(func(at string) {
			if at == step {
				kv.SetBetween(nil)
				f()
			}
		})
	}
	once("list", func() { remove(0); forget() })
	if entries, _, err := kv.List(t.Context(), ""); err != nil || len(entries) != keys-1 {
		t.Errorf("%d keys are listed, %v; want %d", len(entries), err, keys-1)
	}
	const many = 100 // of those that are not on their way yet
	once("list", func() {
		for i := range many {
			remove(keys - 1 - i)
		}
		forgets(many)
	})
	if entries, _, err := kv.List(t.Context(), ""); err != nil || len(entries) != keys-1-many {
		t.Errorf("%d keys are listed, %v; want %d", len(entries), err, keys-1-many)
	}
	remove(2)
	once("create", forget)
	if revs[2], err = kv.Create(t.Context(), ops[2].Key, nil); err != nil {
		t.Error(err)
	}
	remove(2)
	once("commit", forget)
	if _, err = kv.Commit(t.Context(), []state.Op{ops[0], ops[2]}); err != nil {
		t.Error(err)
	}
	remove(3)
	x := &extents{kv: kv}
	x.look(t, "before")
	once("extent", forget)
	x.look(t, "forgotten meanwhile")
}

// Whoever cuts a log may die at any step: nothing seems to be lost, and the next cut completes it. What
// says what was cut off does not grow.
func TestCutDies(t *testing.T) {
	nc := testServer(t, t.TempDir())
	var point string
	var passages int // up to its death
	open := func() *jetstream.Log {
		l, err := jetstream.OpenLog(t.Context(), jetstream.Config{Conn: nc, Name: "LOG", Timeout: patience, Crash: func(at string) {
			if at != point {
				return
			}
			if passages--; passages == 0 {
				panic(at)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := open()
	var most heads.Extent
	look := func(what string) {
		t.Helper()
		e, err := l.Extent(t.Context())
		if err != nil || !e.Covers(most) {
			t.Errorf("%s: %+v, %v; there were %+v", what, e, err, most)
		}
		most = e
	}
	var last uint64
	for _, at := range []struct {
		point    string
		passages int
	}{{"purge.said", 1}, {"purge.step", 1}, {"purge.step", 2}, {"purge.settled", 1}, {"never", 1}} {
		for range 10 {
			for _, subject := range []string{"a", "b"} {
				seq, err := l.Append(t.Context(), subject, nil, "")
				if err != nil {
					t.Fatal(err)
				}
				last = seq
			}
		}
		look("before")
		func() {
			defer func() {
				if died := recover(); (died != nil) != (at.point != "never") {
					t.Errorf("%s %d: %v", at.point, at.passages, died)
				}
			}()
			point, passages = at.point, at.passages
			if err := l.Cut(t.Context(), "a", last); err != nil {
				t.Error(err)
			}
		}()
		l = open()
		look("died at " + at.point)
	}
	records, err := l.Read(t.Context(), "", 0, 1000)
	if err != nil || len(records) != 5*10+1 {
		t.Errorf("%d records, %v", len(records), err)
	}
	js, err := natsjs.New(nc, natsjs.WithDefaultTimeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), "LOG")
	if err != nil {
		t.Fatal(err)
	}
	if n := s.CachedInfo().State.Msgs; n > 5*10+1+2 {
		t.Errorf("%d messages are left", n)
	}
}
