package jetstream_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/state/jetstream"
	"rackboot/state/statetest"
)

// A server whose storage limit is reached refuses at once. A server whose disk
// is filled by somebody else stops acknowledging until it is started again
// (nats-server 2.15). Both lose nothing that was acknowledged.
func TestFullDisk(t *testing.T) {
	for _, c := range []struct {
		name    string
		ballast bool
		code    protocol.Code
	}{
		{"limit reached", false, protocol.CodeUnavailable}, // by default 75 % of the disk
		{"disk full", true, protocol.CodeTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			statetest.SmallDisk(t, 12, func(t *testing.T, mount string) {
				ballast := filepath.Join(mount, "ballast")
				if err := os.WriteFile(ballast, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				dir := filepath.Join(mount, "nats")
				timeout := patience
				if c.ballast {
					timeout = 300 * time.Millisecond // it runs out
				}
				acked, err := fillKV(t, dir, timeout, func() {
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
				if err != nil || len(entries) < acked {
					t.Errorf("%d of %d acknowledged, %v", len(entries), acked, err)
				}
				if _, err := kv.Create(t.Context(), "after", nil); c.ballast && err != nil {
					t.Errorf("write after space came back: %v", err)
				}
			})
		})
	}
}

// fillKV writes until an error, calling fill after 0.5 MB, and stops the server. From then
// on each write has so much time.
func fillKV(t *testing.T, dir string, timeout time.Duration, fill func()) (acked int, err error) {
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
		_, err := kv.Create(ctx, fmt.Sprintf("k%04d", acked), make([]byte, 100<<10))
		return err
	}
	for within := patience; acked < 1000; acked++ { // 100 MB do not fit a disk of 12
		if acked == 5 {
			fill()
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
