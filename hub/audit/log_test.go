package audit

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"rackboot/protocol"
	"rackboot/protocol/auditlog"
	"rackboot/protocol/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func testSigner(name string) *wire.Signer {
	seed := sha256.Sum256([]byte(name))
	return wire.NewSigner(ed25519.NewKeyFromSeed(seed[:]))
}

func testConfig(dir string) Config {
	return Config{Dir: filepath.Join(dir, "audit"), Signer: testSigner("hub"), Clock: time.Now, Registerer: prometheus.NewRegistry()}
}

func open(t testing.TB, cfg Config) *Log {
	t.Helper()
	l, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeLog(t, l) })
	return l
}

func closeLog(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}

func asked(target string) protocol.AuditEntry {
	return protocol.AuditEntry{Caller: "ha", Roles: []string{"fencer"}, From: "192.0.2.7", Op: "hold", Target: target, Reason: "node \"n1\"\nis sick", Outcome: protocol.AuditAsked}
}

func add(t testing.TB, l *Log, target string) protocol.AuditEntry {
	t.Helper()
	e, err := l.Append(t.Context(), asked(target))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// verified is what an export of the log holds; it must verify.
func verified(t testing.TB, l *Log, from uint64) ([]protocol.AuditEntry, auditlog.Report) {
	t.Helper()
	var out bytes.Buffer
	if err := l.Export(t.Context(), &out, from); err != nil {
		t.Fatal(err)
	}
	var all []protocol.AuditEntry
	rep, err := auditlog.Verify(&out, l.keys, func(e protocol.AuditEntry) error { all = append(all, e); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return all, rep
}

// ops are the operations of all entries.
func ops(t testing.TB, l *Log) (out []string) {
	t.Helper()
	all, next, err := l.Read(1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if seq, _ := l.Head(); next != seq+1 {
		t.Errorf("to go on with %d after the head %d", next, seq)
	}
	for _, e := range all {
		out = append(out, e.Op)
	}
	return out
}

func TestAppendAndReopen(t *testing.T) {
	cfg := testConfig(t.TempDir())
	l := open(t, cfg)
	got := add(t, l, "Server/n1")
	if got.Seq != 2 || got.Hash != got.Sum() || got.Prev == "" || got.At.IsZero() || got.Target != "Server/n1" {
		t.Errorf("written as %+v", got)
	}
	add(t, l, "Server/n2")
	closeLog(t, l)
	if _, err := l.Append(t.Context(), asked("x")); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("after Close: %v", err)
	}
	l = open(t, cfg)
	add(t, l, "Server/n3")
	want := []string{"audit-segment", "hold", "hold", "audit-checkpoint", "hold"}
	if diff := cmp.Diff(want, ops(t, l)); diff != "" {
		t.Error(diff)
	}
	if _, rep := verified(t, l, 0); rep.First != 1 || rep.Last != 5 || rep.Checkpoints != 2 {
		t.Errorf("%+v", rep)
	}
	info, err := os.Stat(filepath.Join(cfg.Dir, segmentName(1)))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if n, err := testutil.GatherAndCount(cfg.Registerer.(prometheus.Gatherer)); err != nil || n == 0 {
		t.Errorf("%d metrics, %v", n, err)
	}
	if problems, err := testutil.GatherAndLint(cfg.Registerer.(prometheus.Gatherer)); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

func TestAppendRefuses(t *testing.T) {
	l := open(t, testConfig(t.TempDir()))
	for _, e := range []protocol.AuditEntry{
		{Outcome: protocol.AuditAsked},
		{Op: "hold"},
		{Op: "hold", Outcome: "perhaps"},
		{Op: protocol.AuditOpCheckpoint, Outcome: protocol.AuditAccepted},
		{Op: protocol.AuditOpBreak, Outcome: protocol.AuditAccepted},
	} {
		if _, err := l.Append(t.Context(), e); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%+v: %v", e, err)
		}
	}
	e := asked(strings.Repeat("ä", 300))
	e.Detail, e.Roles = strings.Repeat("\xff\x00", 5000), make([]string, 100)
	got, err := l.Append(t.Context(), e)
	if err != nil || len(got.Target) > protocol.MaxAuditName || len(got.Detail) > protocol.MaxAuditDetail || len(got.Roles) != protocol.MaxAuditRoles {
		t.Errorf("%v, %d, %d, %d", err, len(got.Target), len(got.Detail), len(got.Roles))
	}
	verified(t, l, 0)
	if _, err := Open(Config{}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Error(err)
	}
}

// Many callers at once make one chain, over many segments, and each finds its entry
// where it was told.
func TestConcurrentAppends(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.SegmentBytes, cfg.CheckpointEvery = 8<<10, 20
	l := open(t, cfg)
	const callers, each = 50, 8
	var wg sync.WaitGroup
	var mu sync.Mutex
	told := map[uint64]protocol.AuditEntry{}
	for i := range callers {
		wg.Go(func() {
			for j := range each {
				e, err := l.Append(context.Background(), asked(fmt.Sprintf("Server/n%d-%d", i, j)))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				told[e.Seq] = e
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	all, rep := verified(t, l, 0)
	found := 0
	for _, e := range all {
		if want, ok := told[e.Seq]; ok {
			found++
			if diff := cmp.Diff(want, e); diff != "" {
				t.Errorf("entry %d: %s", e.Seq, diff)
			}
		}
	}
	if found != callers*each {
		t.Errorf("%d of %d entries are there", found, callers*each)
	}
	files, err := filepath.Glob(filepath.Join(cfg.Dir, "*"))
	if err != nil || len(files) < 4 {
		t.Errorf("%d segments, %v", len(files), err)
	}
	if rep.Checkpoints < len(files)+3 {
		t.Errorf("%d checkpoints in %d entries", rep.Checkpoints, len(all))
	}
	if err := l.Check(t.Context()); err != nil || len(l.Broken()) != 0 {
		t.Errorf("%v, %v", err, l.Broken())
	}

	// The same in pages, and from the middle.
	var paged []protocol.AuditEntry
	for next := uint64(1); ; {
		var page []protocol.AuditEntry
		if page, next, err = l.Read(next, 7); err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		paged = append(paged, page...)
	}
	if diff := cmp.Diff(all, paged); diff != "" {
		t.Error(diff)
	}
	if tail, _ := verified(t, l, rep.Last-3); tail[len(tail)-1].Seq != rep.Last || tail[0].Seq > rep.Last-3 || tail[0].Seq == 1 {
		t.Errorf("from %d: %d to %d", rep.Last-3, tail[0].Seq, tail[len(tail)-1].Seq)
	}
	if err := l.Export(t.Context(), &bytes.Buffer{}, rep.Last+1); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("from beyond the head: %v", err)
	}

	// The oldest segments are moved away, under the open log: what is left verifies.
	for _, f := range files[:2] {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Export(t.Context(), &bytes.Buffer{}, 0); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("export of what was moved away: %v", err)
	}
	left, _, err := l.Read(1, 1)
	if err != nil || segmentName(left[0].Seq) != filepath.Base(files[2]) {
		t.Errorf("the first is %v, %v", left, err)
	}
	closeLog(t, l)
	l = open(t, cfg)
	if _, rep := verified(t, l, 0); rep.First != left[0].Seq {
		t.Errorf("%+v", rep)
	}
	if err := l.Check(t.Context()); err != nil || len(l.Broken()) != 0 {
		t.Errorf("%v, %v", err, l.Broken())
	}
}

func TestSince(t *testing.T) {
	cfg := testConfig(t.TempDir())
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	cfg.Clock, cfg.SegmentBytes = func() time.Time { return now }, 1
	l := open(t, cfg)
	for range 5 {
		now = now.Add(time.Hour)
		add(t, l, "Server/n1")
	}
	for hour, want := range []uint64{1, 2, 4, 6, 8, 10, 10} {
		if got := l.Since(time.Date(2026, 11, 20, 9+hour, 30, 0, 0, time.UTC)); got != want {
			t.Errorf("%d h: %d, want %d", hour, got, want)
		}
	}
	if got := l.Since(time.Time{}); got != 1 {
		t.Errorf("from the beginning: %d", got)
	}
}

// A log that nobody writes to is signed to its end after a while, once.
func TestCheckpointAfter(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig(dir)
		l := open(t, cfg)
		add(t, l, "Server/n1")
		time.Sleep(checkpointAfter - time.Second)
		add(t, l, "Server/n2")
		time.Sleep(2 * checkpointAfter)
		if diff := cmp.Diff([]string{"audit-segment", "hold", "hold", "audit-checkpoint"}, ops(t, l)); diff != "" {
			t.Error(diff)
		}
		all, _ := verified(t, l, 0)
		if took := all[3].At.Sub(all[1].At); took != checkpointAfter {
			t.Errorf("signed after %s", took)
		}
		closeLog(t, l)
	})
}
