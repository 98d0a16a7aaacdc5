package daemon

import (
	"fmt"
	"os"
	"testing"
	"time"

	"rackboot/hub/checkpoint"
	"rackboot/hub/pki"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/state"
	"rackboot/state/heads"
)

// What was deleted and taken out of the store is no loss, wherever the hub died meanwhile; and a loss is
// one, whether it comes then or later.
func TestForgottenIsNoLoss(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"", "purge.said", "purge.step", "purge.settled"} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprintf("dies at %q, damaged after a start %t", point, restart), func(t *testing.T) {
				t.Parallel()
				c := ownHub(t)
				started(t, c)
				forgetAndDie(t, c, point)
				if restart {
					for range 2 {
						if err := serving(t, c, func(client *api.Client, _ string) {
							if err := client.Ready(t.Context()); err != nil {
								t.Errorf("what was forgotten is taken for lost: %v", err)
							}
						}); err != nil {
							t.Fatal(err)
						}
					}
				}
				if err := os.Remove(c.path("store/jetstream/$G/streams/rackboot/msgs/1.blk")); err != nil {
					t.Fatal(err)
				}
				if err := serving(t, c, func(client *api.Client, _ string) {
					if err := client.Ready(t.Context()); protocol.CodeOf(err) != protocol.CodeUnavailable {
						t.Errorf("a block is gone: %v", err)
					}
				}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// forgetAndDie writes to the store of a hub that does not run, has it measured, and ends at a point of the
// forgetting of what it has deleted.
func forgetAndDie(t *testing.T, c Config, point string) {
	t.Helper()
	keys, err := pki.Open(c.path("pki"), c.Names)
	if err != nil {
		t.Fatal(err)
	}
	st, err := c.openOffline(t.Context(), keys, func(at string) {
		if at == point {
			panic(point)
		}
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer st.close()
	up := st.up
	kv := up.old.kv
	ops := make([]state.Op, 4)
	for i := range ops {
		ops[i] = state.Op{Kind: state.OpCreate, Key: fmt.Sprintf("meta.gone-%d", i)}
	}
	revs, err := kv.Commit(t.Context(), ops)
	if err != nil {
		t.Fatal(err)
	}
	for i := range ops {
		ops[i] = state.Op{Kind: state.OpDelete, Key: ops[i].Key, Revision: revs[i]}
	}
	if _, err := kv.Commit(t.Context(), ops); err != nil {
		t.Fatal(err)
	}
	if err := up.heads.Accept(t.Context()); err != nil {
		t.Fatal(err)
	}
	was := up.heads.Checkpoint().Streams[checkpoint.KVStream]
	func() {
		defer func() {
			if at := recover(); at != nil && at != point || at == nil && point != "" {
				t.Errorf("it died at %v, not at %q", at, point)
			}
		}()
		if n, err := kv.Forget(t.Context(), time.Now().Add(time.Hour)); n != len(ops) || err != nil {
			t.Errorf("%d keys were forgotten, %v", n, err)
		}
	}()
	is, err := kv.(checkpoint.Measured).Extent(t.Context())
	if err != nil || !is.Covers(was) || is.Keys > was.Keys+1 || is.Messages > was.Messages+3 {
		t.Errorf("there is %+v, %v; and there was %+v", is, err, was)
	}
	if is == (heads.Extent{}) {
		t.Error("there is nothing")
	}
}
