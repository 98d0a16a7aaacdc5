package brokers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"rackboot/state"
	"rackboot/state/jetstream"
)

// TestForgottenWhileACopyIsAway takes a copy away, forgets meanwhile what it has, and gives it back: whoever
// reads, also from that copy while it catches up, and also when it leads, finds nothing of it.
func TestForgottenWhileACopyIsAway(t *testing.T) {
	t.Parallel()
	const keys = 300 // more than a client fetches ahead
	c := startCluster(t)
	kv := c.open()
	ctx, stop := context.WithTimeout(t.Context(), waitAtMost)
	defer stop()
	ops := make([]state.Op, keys)
	for i := range ops {
		ops[i] = state.Op{Kind: state.OpCreate, Key: fmt.Sprintf("gone.%03d", i)}
	}
	var revs []uint64
	c.await("the keys are there", func() (err error) {
		revs, err = kv.Commit(ctx, ops)
		return err
	})
	if _, err := kv.Create(ctx, "stays", nil); err != nil {
		t.Fatal(err)
	}
	leader := c.leader()
	var away *server
	for _, sv := range c.nodes {
		if sv != leader {
			away = sv
		}
	}
	away.kill()
	for i := range ops {
		ops[i] = state.Op{Kind: state.OpDelete, Key: ops[i].Key, Revision: revs[i]}
	}
	c.await("they are deleted", func() error {
		_, err := kv.Commit(ctx, ops)
		if errors.Is(err, state.ErrConflict) { // the one before was not answered
			return nil
		}
		return err
	})
	was, err := kv.Extent(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c.await("they are forgotten", func() error {
		for {
			if n, err := kv.Forget(ctx, time.Now().Add(time.Hour)); n == 0 || err != nil {
				return err
			}
		}
	})
	if is, err := kv.Extent(ctx); err != nil || !is.Covers(was) {
		t.Errorf("there is %+v, %v; and there was %+v", is, err, was)
	}
	_, err = kv.Watch(ctx, "", revs[0])
	if !errors.Is(err, state.ErrConflict) {
		t.Errorf("a watch from before: %v", err)
	}

	away.start()
	lists := nothingGone(ctx, t, kv, 3*time.Second)
	leader.kill()
	lists += nothingGone(ctx, t, kv, 3*time.Second)
	c.leader()
	leader.start()
	lists += nothingGone(ctx, t, kv, 2*time.Second)
	t.Logf("%d lists", lists)
	if lists < 3 {
		t.Error("too few to say anything")
	}
	c.await("a key is made again", func() error {
		_, err := kv.Create(ctx, ops[0].Key, []byte("again"))
		if errors.Is(err, state.ErrConflict) { // the one before was not answered
			return nil
		}
		return err
	})
}

// nothingGone lists for a while, and at least once with success.
func nothingGone(ctx context.Context, t *testing.T, kv *jetstream.KV, most time.Duration) (lists int) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < most || lists == 0; {
		entries, rev, err := kv.List(ctx, "")
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		if err != nil {
			time.Sleep(20 * time.Millisecond) // whoever leads is being elected
			continue
		}
		lists++
		if len(entries) != 1 || strings.HasPrefix(entries[0].Key, "gone.") {
			t.Fatalf("at %d there are %d keys, the first of them %s", rev, len(entries), entries[0].Key)
		}
	}
	return lists
}
