package broker

import (
	"fmt"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/jetstream"
)

// A store that has what it may have takes no writes, and the server within never comes to its own
// limit, within a commit at that: everything that was begun is whole.
func TestStoreIsFull(t *testing.T) {
	s := newSiteWith(t, func(c *Config) {
		c.limits, c.MaxStore = patient(), 2<<20
		c.limits.look = 10 * time.Millisecond
	})
	conn, err := s.broker.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: conn, Name: "KV", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	const keys = 4
	commits := 0
	for deadline := time.Now().Add(patience); s.broker.Healthy() == nil; commits++ {
		ops := make([]state.Op, keys)
		for i := range ops {
			ops[i] = state.Op{Kind: state.OpCreate, Key: fmt.Sprintf("k%06d.%d", commits, i), Value: make([]byte, 30<<10)}
		}
		if _, err := kv.Commit(t.Context(), ops); err != nil {
			t.Fatalf("commit %d: %v", commits, err)
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d commits, and it is never full", commits)
		}
	}
	if err := s.broker.Healthy(); protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
		t.Errorf("full: %v", err)
	}
	if entries, _, err := kv.List(t.Context(), ""); err != nil || len(entries) != commits*keys || commits < 5 {
		t.Errorf("%d keys of %d commits, %v", len(entries), commits, err)
	}
}
