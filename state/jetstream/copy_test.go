package jetstream_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/jetstream"
)

// restored makes a stream of a copy, on a server of its own, and opens it.
func restored(t *testing.T, copied []byte) (*jetstream.KV, jetstream.Copied) {
	t.Helper()
	nc := testServer(t, t.TempDir())
	got, err := jetstream.Restore(t.Context(), jetstream.Config{Conn: nc, Name: "KV"}, bytes.NewReader(copied))
	if err != nil {
		t.Fatal(err)
	}
	kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: nc, Name: "KV", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	return kv, got
}

func list(t *testing.T, kv *jetstream.KV) map[string]state.Entry {
	t.Helper()
	entries, _, err := kv.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]state.Entry{}
	for _, e := range entries {
		out[e.Key] = e
	}
	return out
}

// A copy has the revisions that the stream has, also where there are gaps, and goes on from there.
func TestCopy(t *testing.T) {
	t.Parallel()
	kv := testKV(t, t.TempDir())
	ctx := t.Context()
	rev, err := kv.Create(ctx, "a.1", []byte("one"))
	for i := 0; err == nil && i < 40; i++ { // more than are kept, so that there are gaps
		rev, err = kv.Update(ctx, "a.1", []byte(strconv.Itoa(i)), rev)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Create(ctx, "b.empty", nil); err != nil {
		t.Fatal(err)
	}
	gone, err := kv.Create(ctx, "b.gone", bytes.Repeat([]byte("long "), 40_000))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Commit(ctx, []state.Op{
		{Kind: state.OpCheck, Key: "a.1", Revision: rev}, {Kind: state.OpDelete, Key: "b.gone", Revision: gone}, {Kind: state.OpCreate, Key: "c.1", Value: []byte("\x00\xff")},
	}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	made, err := kv.Copy(ctx, &out)
	if err != nil {
		t.Fatal(err)
	}
	want, err := kv.Extent(ctx)
	if err != nil {
		t.Fatal(err)
	}
	other, got := restored(t, out.Bytes())
	if d := cmp.Diff(made, got); d != "" || made.Last != want.Sequence || made.Messages != want.Messages || made.Kinds["b"] != 3 {
		t.Errorf("%+v (-made +restored)\n%s", made, d)
	}
	if d := cmp.Diff(list(t, kv), list(t, other)); d != "" {
		t.Errorf("(-original +restored)\n%s", d)
	}
	extent, err := other.Extent(ctx)
	if err != nil || extent != want {
		t.Errorf("%+v, %v, want %+v", extent, err, want)
	}
	// Compare-and-set goes on where it was, and so does the history.
	if _, err := other.Update(ctx, "a.1", []byte("next"), rev); err != nil {
		t.Error(err)
	}
	if _, err := other.Update(ctx, "a.1", []byte("old"), rev); !errors.Is(err, state.ErrConflict) {
		t.Errorf("%v", err)
	}
	changes, err := kv.Watch(ctx, "", rev)
	if err != nil {
		t.Fatal(err)
	}
	<-changes
}

// An empty stream, and one of a log, are copied too.
func TestCopyLog(t *testing.T) {
	t.Parallel()
	nc := testServer(t, t.TempDir())
	open := func() *jetstream.Log {
		l, err := jetstream.OpenLog(t.Context(), jetstream.Config{Conn: nc, Name: "KV", Timeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for n := range 3 {
		l := open()
		var out bytes.Buffer
		made, err := l.Copy(t.Context(), &out)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		s, first, err := startServer(dir)
		if err != nil {
			t.Fatal(err)
		}
		got, err := jetstream.Restore(t.Context(), jetstream.Config{Conn: first, Name: "KV"}, &out)
		if d := cmp.Diff(made, got); d != "" || err != nil {
			t.Fatalf("%v %s", err, d)
		}
		first.Close()
		s.Shutdown()
		s.WaitForShutdown()
		there := testServer(t, dir)
		other, err := jetstream.OpenLog(t.Context(), jetstream.Config{Conn: there, Name: "KV", Timeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		a, _ := l.Read(t.Context(), "", 0, 100)
		b, err := other.Read(t.Context(), "", 0, 100)
		if d := cmp.Diff(a, b); d != "" || err != nil || len(b) != n {
			t.Errorf("%v\n%s", err, d)
		}
		// What was filed is not filed again.
		for i := range n {
			seq, err := other.Append(t.Context(), "s", []byte("twice"), fmt.Sprint("id", i))
			if err != nil || seq != b[i].Seq {
				t.Errorf("%d, %v", seq, err)
			}
		}
		if _, err := l.Append(t.Context(), "s", []byte("x"), fmt.Sprint("id", n)); err != nil {
			t.Fatal(err)
		}
	}
}

// slowly is a writer that gives others time.
type slowly struct {
	bytes.Buffer
	each func()
}

func (s *slowly) Write(b []byte) (int, error) {
	s.each()
	return s.Buffer.Write(b)
}

// While others write as fast as they can, a copy is one moment: of two keys that are always committed
// together neither is ahead, however often they were written meanwhile, and nothing that was acknowledged
// before is missing. Writers stop at once after some: then messages that the server counts as still to come
// may have fallen out of the history.
func TestCopyWhileOthersWrite(t *testing.T) {
	t.Parallel()
	kv := testKV(t, t.TempDir())
	ctx := t.Context()
	for i := range 60 {
		if _, err := kv.Create(ctx, fmt.Sprintf("filler.%d", i), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	revs, err := kv.Commit(ctx, []state.Op{{Kind: state.OpCreate, Key: "pair.a", Value: []byte("0")}, {Kind: state.OpCreate, Key: "pair.b", Value: []byte("0")}})
	if err != nil {
		t.Fatal(err)
	}
	const writes = 300 // of each writer in a round
	var acked, alone atomic.Int64
	for round := range 3 {
		var group sync.WaitGroup
		group.Go(func() {
			for range writes {
				value := []byte(strconv.FormatInt(acked.Load()+1, 10))
				now, err := kv.Commit(ctx, []state.Op{{Kind: state.OpUpdate, Key: "pair.a", Value: value, Revision: revs[0]}, {Kind: state.OpUpdate, Key: "pair.b", Value: value, Revision: revs[1]}})
				if err != nil {
					t.Error(err)
					return
				}
				revs = now
				acked.Add(1)
			}
		})
		group.Go(func() {
			for range writes {
				if _, err := kv.Create(ctx, fmt.Sprintf("alone.%d", alone.Load()+1), nil); err != nil {
					t.Error(err)
					return
				}
				alone.Add(1)
			}
		})
		least, leastAlone := acked.Load(), alone.Load()
		out := &slowly{each: func() { time.Sleep(20 * time.Microsecond) }} // some fall out of the history meanwhile
		begun := time.Now()
		if _, err := kv.Copy(ctx, out); err != nil {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		group.Wait()
		if t.Failed() {
			return
		}
		other, _ := restored(t, out.Bytes())
		all := list(t, other)
		a, _ := strconv.ParseInt(string(all["pair.a"].Value), 10, 64)
		if !bytes.Equal(all["pair.a"].Value, all["pair.b"].Value) || a < least {
			t.Errorf("round %d: %q and %q, and %d were acknowledged before", round, all["pair.a"].Value, all["pair.b"].Value, least)
		}
		for n := range leastAlone {
			if _, ok := all[fmt.Sprintf("alone.%d", n+1)]; !ok {
				t.Errorf("round %d: what was acknowledged as number %d is missing", round, n+1)
			}
		}
		if len(all) < 62 {
			t.Errorf("round %d: %d keys", round, len(all))
		}
	}
}

// Who takes a copy may take its time: longer than the server says nothing.
func TestCopySlowly(t *testing.T) {
	t.Parallel()
	kv := testKV(t, t.TempDir())
	for i := range 40 {
		if _, err := kv.Create(t.Context(), fmt.Sprint("a.", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	out := &slowly{each: func() {
		if n++; n == 30 {
			time.Sleep(1500 * time.Millisecond) // the time itself matters: three heartbeats
		}
	}}
	if got, err := kv.Copy(t.Context(), out); err != nil || got.Messages != 40 {
		t.Errorf("%+v, %v", got, err)
	}
	broken := errors.New("the connection is cut")
	if _, err := kv.Copy(t.Context(), failing{broken}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// Deletions that are removed meanwhile would bring their keys back: the copy fails.
func TestCopyWhileDeletionsGo(t *testing.T) {
	t.Parallel()
	kv := testKV(t, t.TempDir())
	rev, err := kv.Create(t.Context(), "a.1", []byte("one"))
	if err == nil {
		err = kv.Delete(t.Context(), "a.1", rev)
	}
	if err != nil {
		t.Fatal(err)
	}
	once := sync.Once{}
	kv.SetBetween(func(step string) {
		if step == "copy" {
			once.Do(func() {
				if _, err := kv.Forget(t.Context(), time.Now().Add(time.Hour)); err != nil {
					t.Error(err)
				}
			})
		}
	})
	if _, err := kv.Copy(t.Context(), io.Discard); protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
	if _, err := kv.Copy(t.Context(), io.Discard); err != nil {
		t.Errorf("again: %v", err)
	}
}

// What is no copy of the stream makes none, and one that is there stays as it is.
func TestRestoreRefused(t *testing.T) {
	t.Parallel()
	kv := testKV(t, t.TempDir())
	for i := range 50 {
		if _, err := kv.Create(t.Context(), fmt.Sprint("a.", i), bytes.Repeat([]byte("x"), 100)); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if _, err := kv.Copy(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	whole := out.Bytes()
	nc := testServer(t, t.TempDir())
	for name, raw := range map[string][]byte{
		"nothing": nil, "something else": []byte("something else that is long enough"), "cut": whole[:len(whole)/2], "without its end": whole[:len(whole)-6],
		"of another stream": bytes.Replace(whole, []byte(`"name":"KV"`), []byte(`"name":"XX"`), 1), "with other subjects": bytes.ReplaceAll(whole, []byte("kv.a"), []byte("xx.a")),
	} {
		if _, err := jetstream.Restore(t.Context(), jetstream.Config{Conn: nc, Name: "KV"}, bytes.NewReader(raw)); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
		nc = testServer(t, t.TempDir())
	}
	if _, err := jetstream.Restore(t.Context(), jetstream.Config{Conn: nc, Name: "KV"}, bytes.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	if _, err := jetstream.Restore(t.Context(), jetstream.Config{Conn: nc, Name: "KV"}, bytes.NewReader(whole)); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("twice: %v", err)
	}
}
