package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/jetstream"
	"rackboot/state/statetest"
)

// groupKeys is how many keys a commit of these tests writes.
const groupKeys = 8

// putGroups commits groups of keys, each with a value that all of its keys have, now and then
// resting on another. It says what it begins and what was acknowledged.
func putGroups(kv *jetstream.KV, say func(string)) {
	ctx := context.Background()
	var revs []uint64
	for i := 0; ; i++ {
		ops := make([]state.Op, groupKeys)
		for n := range ops {
			ops[n] = state.Op{Kind: state.OpCreate, Key: fmt.Sprintf("g.%d", n), Value: []byte(strconv.Itoa(i))}
			if i > 0 {
				ops[n].Kind, ops[n].Revision = state.OpUpdate, revs[n]
			}
		}
		ops = append(ops, state.Op{Kind: state.OpCreate, Key: fmt.Sprintf("n.%d", i)})
		if i%2 == 1 {
			ops = append(ops, state.Op{Kind: state.OpCheck, Key: "never"})
		}
		say("begun " + strconv.Itoa(i))
		var err error
		if revs, err = kv.Commit(ctx, ops); err != nil {
			panic(err)
		}
		say("done " + strconv.Itoa(i))
	}
}

// wholeGroups says what is wrong with what putGroups left, of which the last acknowledged is given.
func wholeGroups(t *testing.T, kv *jetstream.KV, acked int) {
	t.Helper()
	entries, rev, err := kv.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	last, beside, keys := -1, 0, 0
	for _, e := range entries {
		if strings.HasPrefix(e.Key, "n.") {
			beside++
			continue
		}
		keys++
		n, err := strconv.Atoi(string(e.Value))
		if err != nil {
			t.Fatal(err)
		}
		if last >= 0 && n != last {
			t.Errorf("%s is of commit %d, others of %d", e.Key, n, last)
		}
		last = n
	}
	if last >= 0 && keys != groupKeys || beside != last+1 {
		t.Errorf("%d keys of commit %d, and %d beside them", keys, last, beside)
	}
	if last < acked || last > acked+1 {
		t.Errorf("there is commit %d, and %d was acknowledged", last, acked)
	}
	t.Logf("acknowledged up to commit %d, there is %d, revision %d", acked, last, rev)
	// A watch from the beginning comes to the same, in whole changes.
	watch, err := kv.Watch(t.Context(), "g.", 0)
	if err != nil {
		t.Fatal(err)
	}
	for at := -1; at < last; {
		select {
		case change := <-watch:
			for _, e := range change {
				if string(e.Value) != string(change[0].Value) || len(change) != groupKeys {
					t.Fatalf("a change of %d entries: %v", len(change), change)
				}
			}
			at, _ = strconv.Atoi(string(change[0].Value)) // it was read above
		case <-time.After(patience):
			t.Fatalf("the watch ends at commit %d of %d", at, last)
		}
	}
	// It also works again.
	if _, err := kv.Commit(t.Context(), []state.Op{{Kind: state.OpCreate, Key: "after.a"}, {Kind: state.OpCreate, Key: "after.b"}}); err != nil {
		t.Errorf("a commit after the crash: %v", err)
	}
}

// TestCommitKilled: a process is killed when a commit begins, while one is under way, and when one was
// acknowledged. What is there afterwards is whole, and what was acknowledged is there.
func TestCommitKilled(t *testing.T) {
	for round := range 4 {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			// An even number of lines is one that was acknowledged, so the next begins; an odd number is one
			// that is under way.
			dir, said := statetest.KillAfterDelay(t, 60+2*rand.IntN(60)+round%2, time.Duration(rand.IntN(3000))*time.Microsecond, func(dir string, say func(string)) {
				_, nc, err := startServer(dir)
				if err != nil {
					panic(err)
				}
				kv, err := jetstream.OpenKV(context.Background(), jetstream.Config{Conn: nc, Name: "KV", Timeout: patience})
				if err != nil {
					panic(err)
				}
				putGroups(kv, say)
			})
			acked := -1
			for _, line := range said {
				if n, ok := strings.CutPrefix(line, "done "); ok {
					acked, _ = strconv.Atoi(n) // as it was written
				}
			}
			wholeGroups(t, testKV(t, dir), acked)
		})
	}
}

// A reader that lags by more than is kept of a key sees no half of a commit either.
func TestWatchOfWhatIsGone(t *testing.T) {
	kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: testServer(t, t.TempDir()), Name: "KV", History: 2, Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	commit := func(ops ...state.Op) []uint64 {
		t.Helper()
		revs, err := kv.Commit(t.Context(), ops)
		if err != nil {
			t.Fatal(err)
		}
		return revs
	}
	op := func(kind state.OpKind, key, value string, rev uint64) state.Op {
		return state.Op{Kind: kind, Key: key, Value: []byte(value), Revision: rev}
	}
	revs := commit(op(state.OpCreate, "a", "1", 0), op(state.OpCreate, "b", "1", 0))
	revs = commit(op(state.OpUpdate, "a", "2", revs[0]), op(state.OpUpdate, "b", "2", revs[1]))
	b := revs[1]
	if _, err := kv.Create(t.Context(), "between", nil); err != nil {
		t.Fatal(err)
	}
	for i := range 3 { // of b the commit is gone
		if b, err = kv.Update(t.Context(), "b", []byte(fmt.Sprintf("2.%d", i)), b); err != nil {
			t.Fatal(err)
		}
	}
	commit(op(state.OpUpdate, "a", "3", revs[0]), op(state.OpUpdate, "b", "3", b))
	_, end, err := kv.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for after := range end {
		watch, err := kv.Watch(t.Context(), "", after)
		if err != nil {
			t.Fatal(err)
		}
		// What a reader has that has everything up to there.
		have := map[string]string{}
		for at := after; at < end; {
			change := <-watch
			for _, e := range change {
				have[e.Key] = string(e.Value)
				at = e.Revision
			}
			a, b := have["a"], have["b"]
			if n, _, _ := strings.Cut(b, "."); after == 0 && a != n {
				t.Errorf("a is %q and b is %q, after %v", a, b, change)
			}
		}
		if after == 0 && (have["a"] != "3" || have["b"] != "3") {
			t.Errorf("it ends with %v", have)
		}
	}
}

// More commits at once than the server has room for wait for one another.
func TestManyCommitsAtOnce(t *testing.T) {
	const writers, each = 60, 2
	kv := testKV(t, t.TempDir())
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				key := fmt.Sprintf("w.%d.%d", w, i)
				if _, err := kv.Commit(t.Context(), []state.Op{{Kind: state.OpCreate, Key: key + ".a"}, {Kind: state.OpCreate, Key: key + ".b"}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if entries, _, err := kv.List(t.Context(), ""); err != nil || len(entries) != 2*writers*each {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

// A stream without batches is given them, with what it has.
func TestOpenGivesBatches(t *testing.T) {
	nc := testServer(t, t.TempDir())
	js, err := natsjs.New(nc, natsjs.WithDefaultTimeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), natsjs.StreamConfig{
		Name: "KV", Subjects: []string{"kv.>"}, MaxMsgsPerSubject: 16, Discard: natsjs.DiscardNew, DenyDelete: true,
		Metadata: map[string]string{"rackboot_schema": "2"},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "kv.a", []byte("1")); err != nil {
		t.Fatal(err)
	}
	kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: nc, Name: "KV", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Commit(t.Context(), []state.Op{{Kind: state.OpUpdate, Key: "a", Revision: 1}, {Kind: state.OpCreate, Key: "b"}}); err != nil {
		t.Error(err)
	}
	// Somebody takes them away again.
	s, err := js.Stream(t.Context(), "KV")
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.CachedInfo().Config
	cfg.AllowAtomicPublish = false
	if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	_, err = kv.Commit(t.Context(), []state.Op{{Kind: state.OpCreate, Key: "c"}, {Kind: state.OpCreate, Key: "d"}})
	if protocol.CodeOf(err) != protocol.CodeUnsupported || protocol.HintOf(err) == "" {
		t.Errorf("without batches: %v", err)
	}
}

// A value that the server does not take refuses the commit before anything of it is sent, and a commit
// that its caller gives up is there as a whole or not at all.
func TestCommitGivenUp(t *testing.T) {
	kv := testKV(t, t.TempDir())
	_, err := kv.Commit(t.Context(), []state.Op{{Kind: state.OpCreate, Key: "a"}, {Kind: state.OpCreate, Key: "b", Value: make([]byte, 2<<20)}})
	if protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
		t.Errorf("2 MiB: %v", err)
	}
	given := 0
	for i := range 40 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(6000))*time.Microsecond)
		ops := []state.Op{{Kind: state.OpCreate, Key: fmt.Sprintf("p.%d.a", i)}, {Kind: state.OpCreate, Key: fmt.Sprintf("p.%d.b", i)}}
		_, err := kv.Commit(ctx, ops)
		cancel()
		if err == nil {
			continue
		}
		given++
		if c := protocol.CodeOf(err); c != protocol.CodeTimeout {
			t.Errorf("given up: code %s: %v", c, err)
		}
		// As the contract says: the same again, and where that is a conflict it was there.
		if _, err := kv.Commit(t.Context(), ops); err != nil && (!errors.Is(err, state.ErrConflict) || !slices.Equal(state.Conflicting(err), []string{ops[0].Key, ops[1].Key})) {
			t.Errorf("the same again: %v", err)
		}
	}
	entries, _, err := kv.List(t.Context(), "p.")
	if err != nil || len(entries) != 80 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	t.Logf("%d of 40 were given up", given)
}
