package audit

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/state/statetest"
)

// Wherever the hub dies, what was acknowledged is there, the chain is whole, and it
// goes on.
func TestCrashPoints(t *testing.T) {
	passed := map[string]bool{}
	statetest.Points(t, func(run statetest.Run) {
		cfg := testConfig(run.Dir)
		// A segment takes its first entry and one more, and then a checkpoint.
		cfg.Crash, cfg.SegmentBytes, cfg.CheckpointEvery = run.Crash, 1200, 2
		l, err := Open(cfg)
		if err != nil {
			panic(err)
		}
		for i := range 4 {
			e, err := l.Append(context.Background(), asked(fmt.Sprintf("Server/n%d", i)))
			if err != nil {
				panic(err)
			}
			run.Ack(fmt.Sprintf("%d %s", e.Seq, e.Hash))
		}
	}, func(t *testing.T, k statetest.Kill) {
		passed[k.Point] = true
		cfg := testConfig(k.Dir)
		l := open(t, cfg)
		after := add(t, l, "Server/after")
		all, _ := verified(t, l, 0)
		for _, a := range k.Acked {
			if !slices.ContainsFunc(all, func(e protocol.AuditEntry) bool { return fmt.Sprintf("%d %s", e.Seq, e.Hash) == a }) {
				t.Errorf("acknowledged %s is lost", a)
			}
		}
		n := 0 // at most the entry that was being written is there besides
		for _, e := range all {
			if e.Caller == "ha" && e.Seq != after.Seq {
				n++
			}
		}
		if n < len(k.Acked) || n > len(k.Acked)+1 {
			t.Errorf("%d entries, of %d that were acknowledged", n, len(k.Acked))
		}
		if err := l.Check(t.Context()); err != nil || len(l.Broken()) != 0 {
			t.Errorf("%v, %v", err, l.Broken())
		}
		if left, err := filepath.Glob(filepath.Join(cfg.Dir, tempPrefix+"*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	for _, p := range points {
		if !passed[p] {
			t.Errorf("no flow passed %s", p)
		}
	}
}

// A full disk refuses entries, loses none that was acknowledged, and takes entries again
// when there is room. So it is with a log that is opened on a full disk.
func TestFullDisk(t *testing.T) {
	statetest.SmallDisk(t, 8, func(t *testing.T, dir string) {
		ballast := filepath.Join(dir, "ballast")
		cfg := testConfig(dir)
		cfg.SegmentBytes = 100 << 10
		l := open(t, cfg)
		var acked []uint64
		large := asked("again") // it needs another page in any case
		large.Detail = strings.Repeat("\x00", protocol.MaxAuditDetail)
		fill := func(free int64) {
			statetest.Fill(t, ballast, free)
			var err error
			for i := 0; err == nil; i++ {
				var e protocol.AuditEntry
				if e, err = l.Append(t.Context(), asked(strings.Repeat("x", i%200))); err == nil {
					acked = append(acked, e.Seq)
				}
			}
			if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(protocol.HintOf(err), "free space") {
				t.Errorf("full: %v, hint %s", err, protocol.HintOf(err))
			}
			if _, err := l.Append(t.Context(), large); protocol.CodeOf(err) != protocol.CodeUnavailable {
				t.Errorf("still full: %v", err)
			}
			verified(t, l, 0)
		}
		fill(50 << 10) // within a segment
		room(t, ballast)
		acked = append(acked, add(t, l, "after").Seq)
		fill(130 << 10) // over a rotation
		closeLog(t, l)

		// Opened while it is full: it starts, and Append says why not.
		cfg.Registerer = prometheus.NewRegistry()
		l = open(t, cfg)
		if _, err := l.Append(t.Context(), large); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("opened full: %v", err)
		}
		room(t, ballast)
		acked = append(acked, add(t, l, "after").Seq)
		all, _ := verified(t, l, 0)
		for _, seq := range acked {
			if e := all[seq-1]; e.Seq != seq || e.Caller != "ha" {
				t.Errorf("acknowledged entry %d is %+v", seq, e)
			}
		}

		// Begun while it is full.
		statetest.Fill(t, ballast, 0)
		other := testConfig(dir)
		other.Dir += "2"
		l = open(t, other)
		if _, err := l.Append(t.Context(), asked("full")); protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("begun full: %v", err)
		}
		if list, next, err := l.Read(1, 10); len(list) != 0 || next != 0 || err != nil {
			t.Errorf("%v, %d, %v", list, next, err)
		}
		room(t, ballast)
		if e := add(t, l, "after"); e.Seq != 2 {
			t.Errorf("begins with %d", e.Seq)
		}
	})
}
