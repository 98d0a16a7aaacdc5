package audit

import (
	"bytes"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/protocol/auditlog"
)

// What a hub knows of others is in what it signs, and what it signed last is known after a restart. A hub that got
// another name goes on in another segment.
func TestOthers(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.Hub, cfg.CheckpointEvery = "a", 2
	var told [][]auditlog.Head
	now := []auditlog.Head{{Hub: "b", Seq: 7, Hash: "sha256:07"}}
	cfg.Others = func(before []auditlog.Head) []auditlog.Head {
		told = append(told, before)
		return now
	}
	l := open(t, cfg)
	add(t, l, "Server/n1")
	now = []auditlog.Head{{Hub: "b", Seq: 9, Hash: "sha256:09"}}
	add(t, l, "Server/n2") // and a checkpoint
	closeLog(t, l)
	if len(told) != 2 || len(told[0]) != 0 || len(told[1]) != 1 || told[1][0].Seq != 7 {
		t.Errorf("it was told %v", told)
	}
	cfg.Registerer, cfg.Hub = prometheus.NewRegistry(), "c"
	l = open(t, cfg)
	if len(told) != 3 || !slices.Equal(told[2], now) {
		t.Errorf("after a restart it was told %v", told)
	}
	var out bytes.Buffer
	if err := l.Export(t.Context(), &out, 0); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	var begins []string
	rep, err := auditlog.Verify(&out, auditlog.NewKeys(cfg.Signer.Public()), func(e protocol.AuditEntry) error {
		if protocol.AuditBegins(e.Op) {
			begins = append(begins, e.Op+" "+e.Detail)
		}
		return nil
	})
	if err != nil || rep.Hub != "c" || !slices.Equal(begins, []string{"audit-segment the log begins", "audit-segment the hub was named a"}) {
		t.Errorf("%+v, %v, begins %q", rep, err, begins)
	}
}

// A hub that has nothing to write signs what the others have written since, and not what they have signed of it.
func TestOthersAreSignedAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig(t.TempDir())
		var now atomic.Uint64
		now.Store(7)
		cfg.Hub, cfg.Others = "a", func([]auditlog.Head) []auditlog.Head {
			return []auditlog.Head{{Hub: "b", Seq: now.Load(), Hash: "sha256:07"}}
		}
		l, err := Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer closeLog(t, l)
		for _, step := range []struct {
			seq  uint64
			head uint64 // of this log afterwards
		}{{7, 1}, {8, 1}, {9, 2}, {9, 2}, {10, 2}, {12, 3}} {
			now.Store(step.seq)
			time.Sleep(checkpointAfter)
			synctest.Wait()
			if head, _ := l.Head(); head != step.head {
				t.Errorf("b wrote entry %d: this log ends with %d, want %d", step.seq, head, step.head)
			}
		}
	})
}
