package statetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/state"
)

// TestKV is the conformance suite of state.KV. open returns an empty store.
func TestKV(t *testing.T, open func(*testing.T) state.KV) {
	for _, c := range []struct {
		name string
		run  func(context.Context, *testing.T, state.KV)
	}{
		{"compare and set", kvCompareAndSet},
		{"keys and values", kvEdges},
		{"buried", kvBuried},
		{"list", kvList},
		{"no lost update", kvNoLostUpdate},
		{"commit", kvCommit},
		{"commit refused whole", kvCommitRefused},
		{"commit invalid", kvCommitInvalid},
		{"commit of one", kvCommitOne},
		{"commit of the most", kvCommitMost},
		{"commits race", kvCommitRace},
		{"commit seen whole", kvCommitWhole},
		{"watch from every revision", kvWatchFromEach},
		{"watch", kvWatch},
		{"watch ends", kvWatchEnds},
		{"list and watch make a mirror", kvMirror},
		{"slow reader", kvSlowReader},
		{"forget", kvForget},
		{"forget parts of commits", kvForgetCommit},
		{"forget what was created again", kvForgetCreated},
		{"forget many", kvForgetMany},
		{"forget what a reader has not seen", kvForgetLag},
		{"forget while keys come and go", kvForgetRace},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), most(t)) // a watch may wait for ever
			defer cancel()
			c.run(ctx, t, open(t))
		})
	}
}

// wantKV checks the error of a KV against the sentinel, which also has a code.
func wantKV(t *testing.T, what string, err, sentinel error) {
	t.Helper()
	codes := map[error]protocol.Code{nil: "", state.ErrNotFound: protocol.CodeNotFound, state.ErrConflict: protocol.CodeConflict}
	if !errors.Is(err, sentinel) || protocol.CodeOf(err) != codes[sentinel] {
		t.Errorf("%s: %v (code %q), want %v", what, err, protocol.CodeOf(err), sentinel)
	}
}

func kvCompareAndSet(ctx context.Context, t *testing.T, kv state.KV) {
	_, err := kv.Get(ctx, "a")
	wantKV(t, "get before create", err, state.ErrNotFound)
	_, err = kv.Update(ctx, "a", nil, 0)
	wantKV(t, "update of nothing", err, state.ErrConflict)
	_, err = kv.Update(ctx, "a", nil, 1)
	wantKV(t, "update of nothing at a revision", err, state.ErrConflict)
	wantKV(t, "delete of nothing", kv.Delete(ctx, "a", 0), state.ErrConflict)
	r1, err := kv.Create(ctx, "a", []byte("1"))
	wantKV(t, "create", err, nil)
	_, err = kv.Create(ctx, "a", []byte("x"))
	wantKV(t, "create of what exists", err, state.ErrConflict)
	_, err = kv.Create(ctx, "other", []byte("x"))
	wantKV(t, "create of another key", err, nil)
	r2, err := kv.Update(ctx, "a", []byte("2"), r1)
	wantKV(t, "update", err, nil)
	_, err = kv.Update(ctx, "a", []byte("x"), r1)
	wantKV(t, "update at an old revision", err, state.ErrConflict)
	_, err = kv.Update(ctx, "a", []byte("x"), r2+1)
	wantKV(t, "update at a later revision", err, state.ErrConflict)
	e, err := kv.Get(ctx, "a")
	wantKV(t, "get", err, nil)
	if e.Key != "a" || string(e.Value) != "2" || e.Revision != r2 || e.Deleted || r2 <= r1 {
		t.Errorf("got %+v, want value 2 at revision %d > %d", e, r2, r1)
	}
	wantKV(t, "delete at an old revision", kv.Delete(ctx, "a", r1), state.ErrConflict)
	wantKV(t, "delete", kv.Delete(ctx, "a", r2), nil)
	wantKV(t, "delete again", kv.Delete(ctx, "a", r2), state.ErrConflict)
	_, err = kv.Get(ctx, "a")
	wantKV(t, "get after delete", err, state.ErrNotFound)
	_, err = kv.Update(ctx, "a", nil, r2)
	wantKV(t, "update after delete", err, state.ErrConflict)
	_, gone, err := kv.List(ctx, "") // at the deletion
	wantKV(t, "list", err, nil)
	r, err := kv.Update(ctx, "a", nil, gone)
	wantKV(t, "update at the deletion", err, nil)
	wantKV(t, "delete again", kv.Delete(ctx, "a", r), nil)
	r3, err := kv.Create(ctx, "a", []byte("3"))
	wantKV(t, "create after delete", err, nil)
	if e, err := kv.Get(ctx, "a"); err != nil || string(e.Value) != "3" || e.Revision != r3 || r3 <= r2 {
		t.Errorf("created again: %+v, %v", e, err)
	}
}

func kvBuried(ctx context.Context, t *testing.T, kv state.KV) {
	want := func(when, value string) {
		t.Helper()
		e, err := kv.Buried(ctx, "a.b")
		if value == "" {
			wantKV(t, when, err, state.ErrNotFound)
		} else if err != nil || string(e.Value) != value || e.Key != "a.b" || e.Deleted {
			t.Errorf("%s: %+v, %v, want %s", when, e, err, value)
		}
	}
	want("never made", "")
	r, err := kv.Create(ctx, "a.b", []byte("1"))
	wantKV(t, "create", err, nil)
	_, err = kv.Create(ctx, "a.c", []byte("other"))
	wantKV(t, "create another", err, nil)
	if r, err = kv.Update(ctx, "a.b", []byte("2"), r); err != nil {
		t.Fatal(err)
	}
	want("there", "")
	wantKV(t, "delete", kv.Delete(ctx, "a.b", r), nil)
	want("deleted", "2")
	if r, err = kv.Create(ctx, "a.b", []byte("3")); err != nil {
		t.Fatal(err)
	}
	want("there again", "")
	wantKV(t, "delete again", kv.Delete(ctx, "a.b", r), nil)
	want("deleted again", "3")
	_, err = kv.Forget(ctx, time.Now().Add(time.Hour))
	wantKV(t, "forget", err, nil)
	want("forgotten", "")
}

func kvEdges(ctx context.Context, t *testing.T, kv state.KV) {
	for _, key := range []string{"", ".", "a.", ".a", "a..b", "a b", "a*", "a.>", "*", ">", "a/b", "ä", "a\n"} {
		if _, err := kv.Create(ctx, key, nil); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("create of %q: %v", key, err)
		}
		if _, err := kv.Get(ctx, key); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("get of %q: %v", key, err)
		}
	}
	for _, prefix := range []string{"a", ".", "*.", "a.*.", " ."} {
		if _, _, err := kv.List(ctx, prefix); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("list of %q: %v", prefix, err)
		}
		if _, err := kv.Watch(ctx, prefix, 0); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("watch of %q: %v", prefix, err)
		}
	}
	big := bytes.Repeat([]byte{0}, 512<<10)
	for key, value := range map[string][]byte{"empty": {}, "big": big, "Az09_=-.b.c": []byte("v")} {
		_, err := kv.Create(ctx, key, value)
		wantKV(t, "create "+key, err, nil)
		if e, err := kv.Get(ctx, key); err != nil || !bytes.Equal(e.Value, value) {
			t.Errorf("%s: %d bytes, %v; want %d", key, len(e.Value), err, len(value))
		}
	}
}

func kvList(ctx context.Context, t *testing.T, kv state.KV) {
	list := func(prefix string) string {
		t.Helper()
		entries, _, err := kv.List(ctx, prefix)
		must(t, err)
		var out strings.Builder
		for _, e := range entries {
			out.WriteString(e.Key + "=" + string(e.Value) + " ")
		}
		return out.String()
	}
	if got := list(""); got != "" {
		t.Errorf("an empty store lists %q", got)
	}
	var last uint64
	for _, key := range []string{"b.2", "a", "b.1", "b.1.x", "c.gone", "bb.1", "b"} {
		r, err := kv.Create(ctx, key, []byte("1"))
		must(t, err)
		last = r
	}
	e, err := kv.Get(ctx, "c.gone")
	must(t, err)
	must(t, kv.Delete(ctx, "c.gone", e.Revision))
	for prefix, want := range map[string]string{
		"":     "a=1 b=1 b.1=1 b.1.x=1 b.2=1 bb.1=1 ",
		"b.":   "b.1=1 b.1.x=1 b.2=1 ",
		"b.1.": "b.1.x=1 ",
		"c.":   "",
		"d.":   "",
	} {
		if got := list(prefix); got != want {
			t.Errorf("list of %q is %q, want %q", prefix, got, want)
		}
	}
	if _, rev, err := kv.List(ctx, "d."); err != nil || rev <= last {
		t.Errorf("an empty list is at revision %d, %v; the last write was after %d", rev, err, last)
	}
}

func kvNoLostUpdate(ctx context.Context, t *testing.T, kv state.KV) {
	const workers, rounds = 4, 10
	_, err := kv.Create(ctx, "n", []byte("0"))
	must(t, err)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for done := 0; done < rounds; {
				e, err := kv.Get(ctx, "n")
				if err != nil {
					t.Error(err)
					return
				}
				n, _ := strconv.Atoi(string(e.Value))
				_, err = kv.Update(ctx, "n", []byte(strconv.Itoa(n+1)), e.Revision)
				if err == nil {
					done++
				} else if !errors.Is(err, state.ErrConflict) {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	e, err := kv.Get(ctx, "n")
	if string(e.Value) != strconv.Itoa(workers*rounds) || err != nil {
		t.Errorf("the counter is %s, %v; want %d", e.Value, err, workers*rounds)
	}
}

// take reads changes until there are n entries, as "key=value" or "-key".
func take(ctx context.Context, t *testing.T, ch <-chan []state.Entry, n int) []string {
	t.Helper()
	var out []string
	var last uint64
	for len(out) < n {
		select {
		case change, ok := <-ch:
			if !ok {
				t.Fatalf("the watch ended after %q", out)
			}
			for _, e := range change {
				if e.Revision <= last {
					t.Errorf("revision %d after %d", e.Revision, last)
				}
				last = e.Revision
				out = append(out, shown(e))
			}
		case <-ctx.Done():
			t.Fatalf("no more changes after %q", out)
		}
	}
	return out
}

// shown is an entry as "key=value" or "-key".
func shown(e state.Entry) string {
	if e.Deleted {
		return "-" + e.Key
	}
	return e.Key + "=" + string(e.Value)
}

func kvWatch(ctx context.Context, t *testing.T, kv state.KV) {
	early, err := kv.Watch(ctx, "a.", 0)
	must(t, err)
	r1, err := kv.Create(ctx, "a.x", []byte("1"))
	must(t, err)
	_, err = kv.Create(ctx, "b.x", []byte("1"))
	must(t, err)
	r, err := kv.Update(ctx, "a.x", []byte("2"), r1)
	must(t, err)
	must(t, kv.Delete(ctx, "a.x", r))
	_, err = kv.Create(ctx, "a.x", nil)
	must(t, err)
	want(t, take(ctx, t, early, 4), "a.x=1", "a.x=2", "-a.x", "a.x=")
	late, err := kv.Watch(ctx, "", r1)
	must(t, err)
	want(t, take(ctx, t, late, 4), "b.x=1", "a.x=2", "-a.x", "a.x=")
	_, err = kv.Create(ctx, "c", nil)
	must(t, err)
	want(t, take(ctx, t, late, 1), "c=")
}

func kvWatchEnds(ctx context.Context, t *testing.T, kv state.KV) {
	if _, err := kv.Watch(ctx, "", 1_000_000); !errors.Is(err, state.ErrConflict) {
		t.Errorf("watch from a revision that was never reached: %v", err)
	}
	_, err := kv.Create(ctx, "a", nil)
	must(t, err)
	for _, read := range []int{0, 1} { // ended while a change waits, and while none does
		short, stop := context.WithCancel(ctx)
		ch, err := kv.Watch(short, "", 0)
		must(t, err)
		take(ctx, t, ch, read)
		stop()
		for n := 0; ; n++ {
			select {
			case _, ok := <-ch:
				if ok && n == 0 {
					continue // it may have been on its way
				}
				if ok {
					t.Error("a watch that was ended delivers")
				}
			case <-ctx.Done():
				t.Error("the channel of an ended watch is not closed")
			}
			break
		}
	}
}

// kvMirror lists in the middle of writes and follows from there.
func kvMirror(ctx context.Context, t *testing.T, kv state.KV) {
	const keys, rounds = 20, 8
	var wg sync.WaitGroup
	begun := make(chan struct{})
	for k := range keys {
		wg.Go(func() {
			key := fmt.Sprintf("m.%02d", k)
			for i := range rounds {
				r, err := kv.Create(ctx, key, []byte(strconv.Itoa(i)))
				if err == nil {
					r, err = kv.Update(ctx, key, []byte(strconv.Itoa(i)+"u"), r)
				}
				if err == nil && (i < rounds-1 || k%3 == 0) {
					err = kv.Delete(ctx, key, r)
				}
				if err != nil {
					t.Error(err)
					return
				}
				if k == 0 && i == 1 {
					close(begun)
				}
			}
		})
	}
	<-begun
	mirror := map[string]string{}
	var rev uint64
	for range 5 {
		clear(mirror)
		var entries []state.Entry
		var err error
		entries, rev, err = kv.List(ctx, "m.")
		must(t, err)
		for _, e := range entries {
			if e.Revision > rev {
				t.Errorf("the list at %d has revision %d", rev, e.Revision)
			}
			mirror[e.Key] = string(e.Value)
		}
	}
	ch, err := kv.Watch(ctx, "m.", rev)
	must(t, err)
	wg.Wait()
	final, last, err := kv.List(ctx, "m.")
	must(t, err)
	for rev < last {
		select {
		case change := <-ch:
			for _, e := range change {
				rev = e.Revision
				if mirror[e.Key] = string(e.Value); e.Deleted {
					delete(mirror, e.Key)
				}
			}
		case <-ctx.Done():
			t.Fatalf("the watch stopped at revision %d of %d", rev, last)
		}
	}
	got := map[string]string{}
	for _, e := range final {
		got[e.Key] = string(e.Value)
	}
	if !maps.Equal(mirror, got) {
		t.Errorf("the mirror is %v, the store %v", slices.Sorted(maps.Keys(mirror)), slices.Sorted(maps.Keys(got)))
	}
}

// kvSlowReader does not read its watch; writers and other watches go on, and
// it misses nothing.
func kvSlowReader(ctx context.Context, t *testing.T, kv state.KV) {
	const writes = 600 // more than a client fetches ahead
	slow, err := kv.Watch(ctx, "", 0)
	must(t, err)
	fast, err := kv.Watch(ctx, "", 0)
	must(t, err)
	var wants []string
	for i := range writes {
		key := fmt.Sprintf("s.%04d", i)
		_, err := kv.Create(ctx, key, nil)
		must(t, err)
		wants = append(wants, key+"=")
		if got := take(ctx, t, fast, 1)[0]; got != key+"=" {
			t.Fatalf("the fast watch has %s, want %s=", got, key)
		}
	}
	want(t, take(ctx, t, slow, writes), wants...)
}
