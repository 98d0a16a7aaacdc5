package statetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"rackboot/state"
)

// later is a time before which everything was written that is there now.
func later() time.Time { return time.Now().Add(time.Hour) }

// forgets is how many keys are forgotten that were deleted before a time.
func forgets(ctx context.Context, t *testing.T, kv state.KV, before time.Time, want int) {
	t.Helper()
	n, err := kv.Forget(ctx, before)
	if n != want || err != nil {
		t.Errorf("%d keys were forgotten, %v; want %d", n, err, want)
	}
}

func kvForget(ctx context.Context, t *testing.T, kv state.KV) {
	forgets(ctx, t, kv, later(), 0)
	a1 := made(ctx, t, kv, "a", "1")
	a2, err := kv.Update(ctx, "a", []byte("2"), a1)
	must(t, err)
	made(ctx, t, kv, "b", "1")
	_, before, err := kv.List(ctx, "")
	must(t, err)
	must(t, kv.Delete(ctx, "a", a2))
	_, gone, err := kv.List(ctx, "") // at the deletion
	must(t, err)
	forgets(ctx, t, kv, time.Time{}, 0)
	forgets(ctx, t, kv, time.Now().Add(-state.KeepDeletions), 0)
	watch, err := kv.Watch(ctx, "", before)
	must(t, err)
	want(t, take(ctx, t, watch, 1), "-a")

	forgets(ctx, t, kv, later(), 1)
	forgets(ctx, t, kv, later(), 0)
	want(t, all(ctx, t, kv), "b=1")
	_, err = kv.Get(ctx, "a")
	wantKV(t, "get of what is forgotten", err, state.ErrNotFound)
	for after := range gone {
		_, err := kv.Watch(ctx, "", after)
		wantKV(t, fmt.Sprintf("watch from %d", after), err, state.ErrConflict)
	}
	for _, r := range []uint64{a1, a2, gone} {
		_, err = kv.Update(ctx, "a", nil, r)
		wantKV(t, "update of what is forgotten", err, state.ErrConflict)
		wantKV(t, "delete of what is forgotten", kv.Delete(ctx, "a", r), state.ErrConflict)
		_, err = kv.Commit(ctx, []state.Op{check("a", r), create("c", "")})
		wantKV(t, "check of what is forgotten", err, state.ErrConflict)
	}
	// Whoever has seen the deletion goes on, and a key that was forgotten is like one that never was.
	late, err := kv.Watch(ctx, "", gone)
	must(t, err)
	_, err = kv.Commit(ctx, []state.Op{check("a", 0), create("c", "1")})
	wantKV(t, "check that it is not there", err, nil)
	a3, err := kv.Commit(ctx, []state.Op{create("a", "3"), create("d", "1")})
	wantKV(t, "created again", err, nil)
	for _, w := range []<-chan []state.Entry{watch, late} {
		want(t, take(ctx, t, w, 3), "c=1", "a=3", "d=1")
	}
	if a3[0] <= gone {
		t.Errorf("created again at revision %d, and it was deleted at %d", a3[0], gone)
	}
	want(t, all(ctx, t, kv), "a=3", "b=1", "c=1", "d=1")
}

// kvForgetCommit forgets parts of commits.
func kvForgetCommit(ctx context.Context, t *testing.T, kv state.KV) {
	a, b := made(ctx, t, kv, "a", "1"), made(ctx, t, kv, "b", "1")
	_, before, err := kv.List(ctx, "")
	must(t, err)
	revs, err := kv.Commit(ctx, []state.Op{check("never", 0), remove("a", a), create("c", "1"), remove("b", b), create("d", "1")})
	must(t, err)
	_, again, err := kv.List(ctx, "")
	must(t, err)
	made(ctx, t, kv, "b", "2")
	forgets(ctx, t, kv, later(), 1)
	want(t, all(ctx, t, kv), "b=2", "c=1", "d=1")
	for _, after := range []uint64{0, before, revs[1] - 1} {
		_, err := kv.Watch(ctx, "", after)
		wantKV(t, fmt.Sprintf("watch from %d", after), err, state.ErrConflict)
	}
	for after := revs[1]; after <= again; after++ {
		watch, err := kv.Watch(ctx, "b.", after)
		must(t, err)
		key := fmt.Sprintf("b.%d", after)
		made(ctx, t, kv, key, "")
		want(t, take(ctx, t, watch, 1+int(after-revs[1]))[after-revs[1]:], key+"=")
	}
}

// kvForgetCreated: a key that was created again between its deletion and the forgetting stays, with
// the revisions that it has since.
func kvForgetCreated(ctx context.Context, t *testing.T, kv state.KV) {
	for i, again := range []func() uint64{
		func() uint64 { return made(ctx, t, kv, "a", "2") },
		func() uint64 {
			revs, err := kv.Commit(ctx, []state.Op{create("beside", "1"), create("a", "2")})
			must(t, err)
			must(t, kv.Delete(ctx, "beside", revs[0]))
			return revs[1]
		},
	} {
		must(t, kv.Delete(ctx, "a", made(ctx, t, kv, "a", "1")))
		r := again()
		forgets(ctx, t, kv, later(), i)
		e, err := kv.Get(ctx, "a")
		if err != nil || string(e.Value) != "2" || e.Revision != r {
			t.Errorf("it is %+v, %v; want revision %d", e, err, r)
		}
		want(t, all(ctx, t, kv), "a=2")
		must(t, kv.Delete(ctx, "a", r))
		forgets(ctx, t, kv, later(), 1)
		want(t, all(ctx, t, kv))
	}
}

// kvForgetMany forgets more than goes at once, and keys of the greatest length.
func kvForgetMany(ctx context.Context, t *testing.T, kv state.KV) {
	const keys = state.MaxForget + 3
	var ops []state.Op
	for i := range keys {
		ops = append(ops, create(fmt.Sprintf("%0512d", i), ""))
	}
	revs, err := kv.Commit(ctx, ops)
	must(t, err)
	for i := range ops {
		ops[i] = remove(ops[i].Key, revs[i])
	}
	_, err = kv.Commit(ctx, ops)
	must(t, err)
	forgets(ctx, t, kv, later(), state.MaxForget)
	forgets(ctx, t, kv, later(), keys-state.MaxForget)
	forgets(ctx, t, kv, later(), 0)
	want(t, all(ctx, t, kv))
}

// kvForgetLag: a reader that does not read while what it has not seen is forgotten either has seen it
// or is told to list again.
func kvForgetLag(ctx context.Context, t *testing.T, kv state.KV) {
	const writes = 600 // more than a client fetches ahead
	_, begun, err := kv.List(ctx, "")
	must(t, err)
	watch, err := kv.Watch(ctx, "", begun)
	must(t, err)
	var last uint64
	for i := range writes {
		last = made(ctx, t, kv, fmt.Sprintf("s.%04d", i), "")
	}
	must(t, kv.Delete(ctx, fmt.Sprintf("s.%04d", writes-1), last))
	forgets(ctx, t, kv, later(), 1)
	made(ctx, t, kv, "end", "")
	at := begun
	for {
		select {
		case change, ok := <-watch:
			if !ok {
				_, err := kv.Watch(ctx, "", at)
				wantKV(t, fmt.Sprintf("watch again from %d", at), err, state.ErrConflict)
				return
			}
			at = change[len(change)-1].Revision
			if change[0].Key == "end" {
				t.Fatal("it comes to the end, and saw no deletion")
			}
			if change[0].Deleted {
				return
			}
		case <-ctx.Done():
			t.Fatalf("nothing more after %d", at)
		}
	}
}

// kvForgetRace: keys come and go while whatever is deleted is forgotten at once, as with a clock that is
// far ahead. Mirrors that list again when they are told to, and only then, end with what there is; no
// acknowledged creation is lost, and no list has what was deleted before it.
func kvForgetRace(ctx context.Context, t *testing.T, kv state.KV) {
	const keys, rounds = 6, 15
	var writing, others sync.WaitGroup
	forgotten := make(chan struct{}) // something is
	for k := range keys {
		writing.Go(func() {
			for i := range rounds {
				if i == rounds/2 {
					select {
					case <-forgotten:
					case <-ctx.Done():
					}
				}
				if err := comeAndGo(ctx, kv, k, i, i == rounds-1); err != nil {
					t.Errorf("key %d, round %d: %v", k, i, err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	others.Go(func() {
		for total := 0; ; {
			n, err := kv.Forget(ctx, later())
			if err != nil {
				t.Error(err)
			}
			if total += n; n > 0 && n == total {
				close(forgotten)
			}
			select {
			case <-done:
				t.Logf("%d keys were forgotten meanwhile", total)
				return
			default:
			}
		}
	})
	mirrors := make([]map[string]string, 2)
	for i := range mirrors {
		others.Go(func() {
			var err error
			if mirrors[i], err = mirrored(ctx, kv); err != nil {
				t.Error(err)
			}
		})
	}
	writing.Wait()
	made(ctx, t, kv, "last", "")
	close(done)
	others.Wait()
	wants := []string{"last="}
	for k := range keys {
		for _, part := range []string{"x", "y"} {
			wants = append(wants, fmt.Sprintf("r.%d.%s=%d", k, part, rounds-1))
		}
	}
	want(t, all(ctx, t, kv), wants...)
	for _, m := range mirrors {
		var got []string
		for _, key := range slices.Sorted(maps.Keys(m)) {
			got = append(got, key+"="+m[key])
		}
		want(t, got, wants...)
	}
}

// comeAndGo creates two keys and deletes them, by themselves or in commits, and at the end does
// not delete them.
func comeAndGo(ctx context.Context, kv state.KV, key, round int, end bool) error {
	x, y, value := fmt.Sprintf("r.%d.x", key), fmt.Sprintf("r.%d.y", key), fmt.Sprint(round)
	if round%2 == 0 {
		revs, err := kv.Commit(ctx, []state.Op{create(x, value), create(y, value)})
		if err != nil || end {
			return err
		}
		_, err = kv.Commit(ctx, []state.Op{remove(y, revs[1]), remove(x, revs[0])})
		return err
	}
	for _, k := range []string{x, y} {
		r, err := kv.Create(ctx, k, []byte(value))
		if err == nil && !end {
			err = kv.Delete(ctx, k, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mirrored follows the store until it has the key "last". A watch that has ended, and now and then one
// that has not, begins again where it was.
func mirrored(ctx context.Context, kv state.KV) (map[string]string, error) {
	var m groups
	var rev uint64
	for list := true; ; {
		if list {
			entries, at, err := kv.List(ctx, "")
			if err != nil {
				return nil, err
			}
			m, rev, list = groups{}, at, false
			m.apply(entries)
		}
		if _, ok := m["last"]; ok {
			return m, nil
		}
		short, stop := context.WithCancel(ctx)
		watch, err := kv.Watch(short, "", rev)
		if err != nil {
			stop()
			if list = errors.Is(err, state.ErrConflict); !list {
				return nil, err
			}
			continue
		}
		for change := range watch {
			m.apply(change)
			rev = change[len(change)-1].Revision
			if _, ok := m["last"]; ok || rev%7 == 0 {
				break
			}
		}
		stop()
	}
}
