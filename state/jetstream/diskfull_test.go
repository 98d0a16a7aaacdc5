package jetstream_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/jetstream"
	"rackboot/state/statetest"
)

// A server whose storage limit is reached refuses at once. A server whose disk
// is filled by somebody else stops acknowledging until it is started again
// (nats-server 2.15). Both lose nothing that was acknowledged.
//
// A single server that comes to its limit within a commit stops there, answers nobody, and
// does not write the rest when it is started again: that is the one way to half a commit, which is
// why the hub's own server never comes to its limit (hub/broker). What is left can be read.
func TestFullDisk(t *testing.T) {
	for _, c := range []struct {
		name    string
		keys    int // that are written at once
		ballast bool
		code    protocol.Code
	}{
		{"limit reached", 1, false, protocol.CodeUnavailable}, // by default 75 % of the disk
		{"disk full", 1, true, protocol.CodeTimeout},
		{"limit reached by commits", 4, false, protocol.CodeTimeout},
		{"disk full of commits", 4, true, protocol.CodeTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			statetest.SmallDisk(t, 12, func(t *testing.T, mount string) {
				ballast := filepath.Join(mount, "ballast")
				if err := os.WriteFile(ballast, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				dir := filepath.Join(mount, "nats")
				timeout := patience
				if c.code == protocol.CodeTimeout {
					timeout = 300 * time.Millisecond // it runs out
				}
				acked, err := fillKV(t, dir, c.keys, timeout, func() {
					if c.ballast {
						statetest.Fill(t, ballast, 1<<20)
					}
				})
				if protocol.CodeOf(err) != c.code || protocol.HintOf(err) == "" {
					t.Errorf("after %d writes: code %s, want %s: %v, hint %q", acked, protocol.CodeOf(err), c.code, err, protocol.HintOf(err))
				}
				if err := os.Remove(ballast); err != nil {
					t.Fatal(err)
				}
				kv := testKV(t, dir)
				entries, _, err := kv.List(t.Context(), "")
				if err != nil || len(entries) < acked*c.keys || c.ballast && len(entries)%c.keys != 0 || len(entries) > (acked+1)*c.keys {
					t.Errorf("%d keys, of writes of %d, %d acknowledged, %v", len(entries), c.keys, acked, err)
				}
				for i, e := range entries { // in order: those of one write are beside each other
					if want := fmt.Sprintf("k%04d.%d", i/c.keys, i%c.keys); e.Key != want {
						t.Fatalf("there is %s, want %s", e.Key, want)
					}
				}
				if _, err := kv.Create(t.Context(), "after", nil); c.ballast && err != nil {
					t.Errorf("write after space came back: %v", err)
				}
			})
		})
	}
}

// fillKV writes 100 KiB in so many keys at once until an error, calling fill after 0.5 MB, and
// stops the server. From then on each write has so much time.
func fillKV(t *testing.T, dir string, keys int, timeout time.Duration, fill func()) (acked int, err error) {
	t.Helper()
	s, nc, err := startServer(dir)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: nc, Name: "KV", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	create := func(within time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		ops := make([]state.Op, keys)
		for i := range ops {
			ops[i] = state.Op{Kind: state.OpCreate, Key: fmt.Sprintf("k%04d.%d", acked, i), Value: make([]byte, 100<<10/keys)}
		}
		_, err := kv.Commit(ctx, ops)
		return err
	}
	for within := patience; acked < 1000; acked++ { // 100 MB do not fit a disk of 12
		if acked == 5 {
			fill()
		}
		if acked >= 5 && (acked == 5 || keys > 1) {
			within = timeout
		}
		if err = create(within); err != nil {
			break
		}
	}
	nc.Close()
	s.Shutdown()
	s.WaitForShutdown()
	return acked, err
}
