package jetstream_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"rackboot/state"
	"rackboot/state/jetstream"
	"rackboot/state/statetest"
)

const killPuts = 10_000

func killKey(i int) string { return fmt.Sprintf("claims.c%05d", i) }

// putAll writes keys and says for each that the store acknowledged it.
func putAll(dir string, ack func(string)) {
	_, nc, err := startServer(dir)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	kv, err := jetstream.OpenKV(ctx, jetstream.Config{Conn: nc, Name: "KV", Timeout: patience})
	if err != nil {
		panic(err)
	}
	for i := range killPuts {
		if _, err := kv.Create(ctx, killKey(i), []byte("value "+strconv.Itoa(i))); err != nil {
			panic(err)
		}
		ack(strconv.Itoa(i))
	}
}

// TestKVKilledKeepsAcknowledged: a process killed in the middle of 10,000 writes loses none that it
// acknowledged. The kill moment is random in the first third; run with -count
// for many.
func TestKVKilledKeepsAcknowledged(t *testing.T) {
	dir, acked := statetest.KillAfter(t, 1+rand.IntN(killPuts/3), putAll)

	start := time.Now()
	kv := testKV(t, dir)
	reopen := time.Since(start)
	entries, rev, err := kv.List(t.Context(), "claims.")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("killed after %d acknowledged writes; %d found, reopened in %v, listed after %v", len(acked), len(entries), reopen, time.Since(start))
	if len(entries) < len(acked) {
		t.Errorf("%d of %d acknowledged writes are lost", len(acked)-len(entries), len(acked))
	}
	for i, e := range entries {
		if want := "value " + strconv.Itoa(i); e.Key != killKey(i) || string(e.Value) != want {
			t.Fatalf("entry %d is %s = %q, want %s = %q", i, e.Key, e.Value, killKey(i), want)
		}
	}
	// It also works again.
	got, err := kv.Create(t.Context(), "claims.after", nil)
	if err != nil || got <= rev {
		t.Errorf("write after the crash: revision %d after %d, %v", got, rev, err)
	}
}

// TestKVTruncatedBlock: a block file that lost its end, as after a power cut on a disk that lies
// about sync, gives back all but the damaged tail.
func TestKVTruncatedBlock(t *testing.T) {
	for _, cut := range []int64{1, 100, 1000} {
		t.Run(fmt.Sprintf("cut %d", cut), func(t *testing.T) {
			dir, acked := statetest.KillAfter(t, 100, putAll)
			truncate(t, dir, cut)
			entries, _, err := testKV(t, dir).List(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d acknowledged, %d left after the cut of %d bytes", len(acked), len(entries), cut)
			// The smallest record is some 22 bytes of header, checksum and key.
			if lost := len(acked) - len(entries); int64(lost) > cut/22+1 {
				t.Errorf("a cut of %d bytes lost %d records", cut, lost)
			}
			for i, e := range entries {
				if want := "value " + strconv.Itoa(i); e.Key != killKey(i) || string(e.Value) != want {
					t.Fatalf("entry %d is %s = %q, want %s = %q", i, e.Key, e.Value, killKey(i), want)
				}
			}
		})
	}
}

// A block that lost its end within a commit keeps nobody waiting for the rest of it.
func TestCommitTruncatedBlock(t *testing.T) {
	const commits, cut = 20, 300
	dir := t.TempDir()
	s, nc, err := startServer(dir)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: nc, Name: "KV", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	for i := range commits {
		ops := make([]state.Op, 3)
		for n := range ops {
			ops[n] = state.Op{Kind: state.OpCreate, Key: fmt.Sprintf("c%02d.%d", i, n), Value: make([]byte, 100)}
		}
		if _, err := kv.Commit(t.Context(), ops); err != nil {
			t.Fatal(err)
		}
	}
	nc.Close()
	s.Shutdown()
	s.WaitForShutdown()
	truncate(t, dir, cut)
	entries, rev, err := testKV(t, dir).List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d keys are left, at revision %d", len(entries), 3*commits, rev)
	if len(entries) < 3*(commits-2) || len(entries) == 3*commits {
		t.Errorf("%d keys are left", len(entries))
	}
}

// truncate takes the last bytes from the store's newest block file.
func truncate(t *testing.T, dir string, cut int64) {
	t.Helper()
	blocks, err := filepath.Glob(filepath.Join(dir, "jetstream", "*", "streams", "KV", "msgs", "*.blk"))
	if err != nil || len(blocks) == 0 {
		t.Fatalf("no block file below %s: %v", dir, err)
	}
	last := blocks[len(blocks)-1]
	fi, err := os.Stat(last)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(last, fi.Size()-cut); err != nil {
		t.Fatal(err)
	}
}
