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
		t.Errorf("%d keys of %d commits, %v; %v", len(entries), commits, err, s.broker.Healthy())
	}
}

// A list that is under way while the server is started anew has everything soon after, and does not wait until its
// deadline for a reader that the new server does not know.
func TestListWhileTheStoreIsOpenedAgain(t *testing.T) {
	s := newSiteWith(t, nil)
	conn, err := s.broker.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: conn, Name: "KV", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	const keys = 2000
	for i := range keys {
		if _, err := kv.Create(t.Context(), fmt.Sprintf("k%06d", i), make([]byte, 1<<10)); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 3 {
		ended := make(chan error, 1)
		go func() {
			entries, _, err := kv.List(t.Context(), "")
			for protocol.CodeOf(err) == protocol.CodeUnavailable { // nobody answers while there is no server
				entries, _, err = kv.List(t.Context(), "")
			}
			if err == nil && len(entries) != keys {
				err = fmt.Errorf("%d keys of %d", len(entries), keys)
			}
			ended <- err
		}()
		if err := s.broker.reopen(t.Context()); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if err := <-ended; err != nil {
			t.Errorf("list %d, %s after the server was there again: %v", n, time.Since(begun).Round(time.Millisecond), err)
		}
		t.Logf("list %d ended %s after the server was there again", n, time.Since(begun).Round(time.Millisecond))
	}
}
