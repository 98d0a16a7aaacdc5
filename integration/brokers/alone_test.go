package brokers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	hubcluster "rackboot/hub/cluster"
	"rackboot/state"
	"rackboot/state/jetstream"
)

// TestALeaderThatHearsNobody: the node that a hub is connected to leads the stream, and is cut off from the others and not
// from the hub. Writes are stored at the others, all of them once, and none fails.
func TestALeaderThatHearsNobody(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	c.open()
	on := hubcluster.Config{Replicas: nodes, Name: "a"}
	for _, sv := range c.nodes {
		on.URLs = append(on.URLs, "nats://"+sv.addr)
	}
	if err := on.Check(); err != nil {
		t.Fatal(err)
	}
	to, err := hubcluster.Dial(t.Context(), on, slog.New(slog.DiscardHandler), hubcluster.NewLost())
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: to.Conn(), Name: "rackboot", Replicas: nodes, Timeout: hubcluster.CallTimeout, Elsewhere: to.Elsewhere})
	if err != nil {
		t.Fatal(err)
	}
	const writers = 8
	revisions := make([]uint64, writers)
	for i := range revisions {
		if revisions[i], err = kv.Create(t.Context(), fmt.Sprintf("k.%d", i), []byte("before")); err != nil {
			t.Fatal(err)
		}
	}
	var leader *server
	c.await("the hub is connected to the leader", func() error {
		if leader = c.leader(); to.Conn().ConnectedServerName() == leader.name {
			return nil
		}
		return errors.Join(errors.New("elsewhere"), to.Conn().ForceReconnect())
	})

	c.part(leader)
	begun := time.Now()
	type result struct {
		writer int
		err    error
		took   time.Duration
	}
	results := make(chan result, writers)
	for i := range writers {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), waitAtMost)
			defer cancel()
			_, err := kv.Update(ctx, fmt.Sprintf("k.%d", i), []byte("after"), revisions[i])
			results <- result{i, err, time.Since(begun)}
		}()
	}
	slowest := time.Duration(0)
	for range writers {
		r := <-results
		if r.err != nil {
			t.Errorf("writer %d after %v: %v", r.writer, r.took, r.err)
		}
		slowest = max(slowest, r.took)
	}
	t.Logf("the last write was stored %v after the leader was cut off", slowest.Round(10*time.Millisecond))
	if to.Conn().ConnectedServerName() == leader.name {
		t.Error("the hub stays with a node that hears nobody")
	}
	c.heal(leader)
	entries, _, err := kv.List(t.Context(), "k.")
	if err != nil || len(entries) != writers {
		t.Fatalf("%d are there, %v", len(entries), err)
	}
	seen := map[uint64]state.Entry{}
	for _, e := range entries {
		if string(e.Value) != "after" {
			t.Errorf("%s is %q", e.Key, e.Value)
		}
		seen[e.Revision] = e
	}
	if len(seen) != writers {
		t.Errorf("%d revisions", len(seen))
	}
}
