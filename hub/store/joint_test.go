package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/state"
)

// slowCommits takes a second for each commit, and notes how many ops each has.
type slowCommits struct {
	*storetest.Memory
	mu    sync.Mutex
	sizes []int
	fail  error // of commits that have a key
	key   string
}

func (k *slowCommits) Commit(ctx context.Context, ops []state.Op) ([]uint64, error) {
	time.Sleep(time.Second)
	k.mu.Lock()
	k.sizes = append(k.sizes, len(ops))
	k.mu.Unlock()
	if slices.ContainsFunc(ops, func(o state.Op) bool { return o.Key == k.key }) {
		return nil, k.fail
	}
	return k.Memory.Commit(ctx, ops)
}

// pairOf creates two keys and checks a third.
func pairOf(n int, check string, revision uint64) []state.Op {
	return []state.Op{
		write(fmt.Sprintf("meta.a%d", n), []byte("x"), 0), write(fmt.Sprintf("meta.b%d", n), []byte("x"), 0),
		{Kind: state.OpCheck, Key: check, Revision: revision},
	}
}

// What comes while a commit is under way is committed at once. Who conflicts is told of that, and of
// its own keys; the others are not concerned. What is large, or has somebody else's key, goes by itself.
func TestJointCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &slowCommits{Memory: storetest.NewMemory(), key: "meta.a21", fail: errors.New("the disk is gone")}
		checked, err := kv.Create(t.Context(), "meta.checked", nil)
		if err != nil {
			t.Fatal(err)
		}
		j := &joint{kv: kv}
		var callers sync.WaitGroup
		commit := func(ops []state.Op, want error, keys ...string) {
			callers.Go(func() {
				revisions, err := j.commit(t.Context(), ops)
				if !errors.Is(err, want) || !slices.Equal(state.Conflicting(err), keys) {
					t.Errorf("%s: %v, want %v of %q", ops[0].Key, err, want, keys)
				}
				for i, o := range ops {
					e, getErr := kv.Get(t.Context(), o.Key)
					if err == nil && o.Kind != state.OpCheck && (getErr != nil || e.Revision != revisions[i]) {
						t.Errorf("%s is at revision %d, %v; it was told %d", o.Key, e.Revision, getErr, revisions[i])
					}
				}
			})
			synctest.Wait()
		}
		for n := range 8 {
			commit(pairOf(n, "meta.checked", checked), nil)
		}
		commit(pairOf(8, "meta.other", 7), state.ErrConflict, "meta.other")
		commit(pairOf(9, "meta.checked", checked+1), state.ErrConflict, "meta.checked")                                                                                     // at another revision: it goes alone
		commit([]state.Op{write("meta.a0", nil, 0), write("meta.c1", nil, 0), {Kind: state.OpCheck, Key: "meta.checked", Revision: checked}}, state.ErrConflict, "meta.a0") // of somebody who is before
		callers.Wait()
		for _, key := range []string{"meta.a8", "meta.a9", "meta.c1"} {
			if _, err := kv.Get(t.Context(), key); err == nil {
				t.Errorf("%s was refused, and is there", key)
			}
		}
		// One alone, and one who does not check the same; 7 pairs with their check, and one who conflicts; those
		// without that one; one who wants the check at another revision.
		slices.Sort(kv.sizes)
		if want := []int{3, 3, 3, 15, 17}; !slices.Equal(kv.sizes, want) {
			t.Errorf("commits of %d ops, want %d", kv.sizes, want)
		}
		// Who does not wait any longer does not know; the others have their answer.
		ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		_, err = j.commit(ctx, pairOf(20, "meta.checked", checked))
		if protocol.CodeOf(err) != protocol.CodeTimeout {
			t.Errorf("%v", err)
		}
		commit(pairOf(21, "meta.checked", checked), kv.fail)
		callers.Wait()
		if _, err := kv.Get(t.Context(), "meta.a20"); err != nil {
			t.Errorf("what nobody waited for was not written: %v", err)
		}
	})
}

// What somebody waits for is not joined with background work, and none waits for the other but for a
// key that both check.
func TestJointLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &slowCommits{Memory: storetest.NewMemory()}
		var keys [2]uint64
		for i, key := range []string{"meta.one", "meta.other"} {
			revision, err := kv.Create(t.Context(), key, nil)
			if err != nil {
				t.Fatal(err)
			}
			keys[i] = revision
		}
		j := &joint{kv: kv}
		background, begun := Patient(t.Context()), time.Now()
		var callers sync.WaitGroup
		commit := func(ctx context.Context, ops []state.Op, want time.Duration) {
			callers.Go(func() {
				if _, err := j.commit(ctx, ops); err != nil {
					t.Errorf("%s: %v", ops[0].Key, err)
				}
				if took := time.Since(begun); took != want {
					t.Errorf("%s took %s, want %s", ops[0].Key, took, want)
				}
			})
			synctest.Wait()
		}
		for n := range 8 {
			commit(background, []state.Op{write(fmt.Sprintf("meta.a%d", n), nil, 0), write(fmt.Sprintf("meta.b%d", n), nil, 0)}, time.Duration(1+min(1, n/jointRuns))*time.Second)
		}
		commit(t.Context(), pairOf(20, "meta.one", keys[0]), time.Second)
		commit(background, pairOf(21, "meta.other", keys[1]), 2*time.Second)
		commit(background, pairOf(22, "meta.other", keys[1]), 2*time.Second)
		commit(t.Context(), pairOf(23, "meta.one", keys[0]), 2*time.Second) // of its own line, it waits for the check
		callers.Wait()
		begun = time.Now()
		commit(background, pairOf(30, "meta.other", keys[1]), time.Second)
		commit(t.Context(), pairOf(31, "meta.other", keys[1]), 2*time.Second) // nobody of its own line is under way
		callers.Wait()
	})
}

// hungCommits is a store whose servers are cut off: a commit ends with its context.
type hungCommits struct {
	state.KV
	begun, ended chan struct{}
}

func (k *hungCommits) Commit(ctx context.Context, _ []state.Op) ([]uint64, error) {
	k.begun <- struct{}{}
	<-ctx.Done()
	k.ended <- struct{}{}
	return nil, ctx.Err()
}

// What is committed for callers who are all gone is not tried any more, and goes on while one of them waits; what
// waits for nobody is not begun.
func TestJointGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &hungCommits{begun: make(chan struct{}, 9), ended: make(chan struct{}, 9)}
		j := &joint{kv: k}
		var callers [jointRuns + 3]context.CancelFunc
		call := func(n int) {
			ctx, stop := context.WithCancel(t.Context())
			callers[n] = stop
			go func() { _, _ = j.commit(ctx, pairOf(n, fmt.Sprintf("meta.c%d", n), 0)) }() // it ends with its caller
			synctest.Wait()
		}
		for n := range jointRuns { // each in a commit of its own
			call(n)
		}
		for n := jointRuns; n < len(callers); n++ { // they wait
			call(n)
		}
		if len(k.begun) != jointRuns || len(k.ended) != 0 {
			t.Fatalf("%d commits were begun and %d ended", len(k.begun), len(k.ended))
		}
		callers[len(callers)-1]() // who waits for its turn goes
		callers[0]()
		synctest.Wait()
		if len(k.ended) != 1 || len(k.begun) != jointRuns+1 {
			t.Fatalf("a caller is gone: %d commits have ended, %d were begun", len(k.ended), len(k.begun))
		}
		callers[jointRuns]() // one of two
		synctest.Wait()
		if len(k.ended) != 1 {
			t.Fatal("a commit ended that somebody waits for")
		}
		callers[jointRuns+1]()
		synctest.Wait()
		if len(k.ended) != 2 {
			t.Fatal("a commit goes on that nobody waits for")
		}
		callers[1]()
		synctest.Wait()
		if len(k.ended) != 3 || len(k.begun) != jointRuns+1 {
			t.Fatalf("%d commits have ended, and %d were begun", len(k.ended), len(k.begun))
		}
	})
}
