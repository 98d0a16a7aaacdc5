package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/state"
)

// pair commits both keys of the bucket meta with one value, from what the store has.
func pair(ctx context.Context, s *Store, value string) error {
	var ops []state.Op
	for _, key := range []string{"meta.a", "meta.b"} {
		e, ok := s.core.mirror.get(key)
		if !ok {
			e.Revision = 0
		}
		ops = append(ops, write(key, []byte(value), e.Revision))
	}
	_, err := s.core.commit(ctx, ops)
	return err
}

// Two hubs commit the same pair of keys, win and lose. Nobody who reads either of them sees half
// of a commit: not of its own, not of the other's, and not after a lost one.
func TestNobodySeesHalfOfACommit(t *testing.T) {
	mem := storetest.NewMemory()
	stores := []*Store{open(t, mem), open(t, mem)}
	ctx, stop := context.WithCancel(t.Context())
	var running, writing, reading sync.WaitGroup
	for _, s := range stores {
		running.Go(func() { _ = s.Run(ctx) }) // it returns nil
	}
	for _, s := range stores { // whoever loses waits for the watch
		for deadline := time.Now().Add(time.Minute); !s.core.following.Load(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("nothing is watched")
			}
		}
	}
	over := make(chan struct{})
	for _, s := range stores {
		reading.Go(func() {
			for done := false; !done; runtime.Gosched() {
				select {
				case <-over:
					done = true
				default:
				}
				list := s.core.mirror.list("meta")
				if len(list) == 1 || len(list) == 2 && string(list[0].Value) != string(list[1].Value) {
					t.Errorf("half of a commit is seen: %v", list)
					return
				}
			}
		})
	}
	var lost atomic.Int64
	deadline := time.Now().Add(time.Minute)
	for n, s := range stores {
		writing.Go(func() {
			for i := 0; i < 500 || lost.Load() == 0 && time.Now().Before(deadline); i++ {
				runtime.Gosched() // to the other one
				err := pair(ctx, s, fmt.Sprintf("%d.%d", n, i))
				if errors.Is(err, state.ErrConflict) {
					lost.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	close(over)
	reading.Wait()
	stop()
	running.Wait()
	if lost.Load() == 0 {
		t.Error("nobody lost, so nothing is shown of that")
	}
	t.Logf("%d commits were lost", lost.Load())
}

// A commit that deletes and creates is in the mirror when it returns, its watch brings nothing
// back, and one that is refused changes nothing and is right the next time.
func TestCommitInTheMirror(t *testing.T) {
	mem := storetest.NewMemory()
	s, other := open(t, mem), open(t, mem)
	if err := pair(t.Context(), s, "1"); err != nil {
		t.Fatal(err)
	}
	woken, end := s.Subscribe()
	defer end()
	a, _ := s.core.mirror.get("meta.a")
	b, _ := s.core.mirror.get("meta.b")
	revisions, err := s.core.commit(t.Context(), []state.Op{
		{Kind: state.OpDelete, Key: "meta.a", Revision: a.Revision}, write("request.c", []byte("{}"), 0), {Kind: state.OpCheck, Key: "meta.b", Revision: b.Revision},
	})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-woken:
	default:
		t.Error("nobody was told")
	}
	if _, ok := s.core.mirror.get("meta.a"); ok {
		t.Error("what was deleted is there")
	}
	if c, ok := s.core.mirror.get("request.c"); !ok || c.Revision != revisions[1] {
		t.Errorf("%+v, %d", c, revisions)
	}
	s.core.mirror.applyWatched(a) // late
	if _, ok := s.core.mirror.get("meta.a"); ok {
		t.Error("a late watch brought it back")
	}
	s.core.mirror.applyWatched(cached{Entry: state.Entry{Key: "meta.a", Revision: revisions[0], Deleted: true}})
	if len(s.core.mirror.buckets["meta"]) != 1 {
		t.Error("the tombstone stays")
	}
	// The other one has nothing of all that, loses, and is up to date then.
	if err := pair(t.Context(), other, "2"); !errors.Is(err, state.ErrConflict) || protocol.CodeOf(err) != protocol.CodeConflict {
		t.Fatalf("over what is there: %v", err)
	}
	if err := pair(t.Context(), other, "2"); err != nil {
		t.Errorf("the next time: %v", err)
	}
	sick := errors.New("the disk is full")
	s.core.able = func() error { return sick }
	if _, err := s.core.commit(t.Context(), []state.Op{write("meta.x", nil, 0), write("meta.y", nil, 0)}); !errors.Is(err, sick) {
		t.Errorf("without room: %v", err)
	}
}
