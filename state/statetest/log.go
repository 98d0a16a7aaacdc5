package statetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"rackboot/protocol"
	"rackboot/state"
)

// TestLog is the conformance suite of state.Log. open returns an empty log.
func TestLog(t *testing.T, open func(*testing.T) state.Log) {
	for _, c := range []struct {
		name string
		run  func(context.Context, *testing.T, state.Log)
	}{
		{"append and read", logReadBack},
		{"an id appends once", logIdempotent},
		{"invalid", logInvalid},
		{"concurrent", logConcurrent},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run(t.Context(), t, open(t))
		})
	}
}

// readLog reads records as "subject=data".
func readLog(ctx context.Context, t *testing.T, l state.Log, subject string, from uint64, limit int) []string {
	t.Helper()
	records, err := l.Read(ctx, subject, from, limit)
	must(t, err)
	var out []string
	var last uint64
	for _, r := range records {
		if r.Seq <= last || r.Seq < from {
			t.Errorf("seq %d after %d, from %d", r.Seq, last, from)
		}
		last = r.Seq
		out = append(out, r.Subject+"="+string(r.Data))
	}
	return out
}

func logReadBack(ctx context.Context, t *testing.T, l state.Log) {
	want(t, readLog(ctx, t, l, "", 0, 10))
	var seqs []uint64
	for i, subject := range []string{"a", "b", "a", "a.x", "b", "a"} {
		seq, err := l.Append(ctx, subject, fmt.Append(nil, i), "")
		must(t, err)
		seqs = append(seqs, seq)
	}
	all := []string{"a=0", "b=1", "a=2", "a.x=3", "b=4", "a=5"}
	want(t, readLog(ctx, t, l, "", 0, 10), all...)
	want(t, readLog(ctx, t, l, "", seqs[2], 10), all[2:]...)
	want(t, readLog(ctx, t, l, "", seqs[2], 2), all[2:4]...)
	want(t, readLog(ctx, t, l, "a", 0, 10), "a=0", "a=2", "a=5")
	want(t, readLog(ctx, t, l, "a", seqs[1], 1), "a=2")
	want(t, readLog(ctx, t, l, "c", 0, 10))
	want(t, readLog(ctx, t, l, "", seqs[5]+1, 10))
	want(t, readLog(ctx, t, l, "", seqs[5]+100, 10))
}

func logIdempotent(ctx context.Context, t *testing.T, l state.Log) {
	first, err := l.Append(ctx, "a", []byte("1"), "id")
	must(t, err)
	_, err = l.Append(ctx, "a", []byte("2"), "other")
	must(t, err)
	again, err := l.Append(ctx, "a", []byte("1"), "id")
	if again != first || err != nil {
		t.Errorf("the second append has seq %d, %v; the first had %d", again, err, first)
	}
	for range 2 {
		_, err := l.Append(ctx, "a", []byte("3"), "")
		must(t, err)
	}
	want(t, readLog(ctx, t, l, "", 0, 10), "a=1", "a=2", "a=3", "a=3")
}

func logInvalid(ctx context.Context, t *testing.T, l state.Log) {
	for _, subject := range []string{"", "a.", "*", "a b", ">"} {
		if _, err := l.Append(ctx, subject, nil, ""); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("append to %q: %v", subject, err)
		}
		if _, err := l.Read(ctx, subject, 0, 1); subject != "" && protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("read of %q: %v", subject, err)
		}
	}
	if _, err := l.Read(ctx, "", 0, 0); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("read of no records: %v", err)
	}
}

func logConcurrent(ctx context.Context, t *testing.T, l state.Log) {
	const writers, each = 8, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				_, err := l.Append(ctx, fmt.Sprintf("w%d", w), fmt.Append(nil, i), fmt.Sprintf("%d-%d", w, i))
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if got := readLog(ctx, t, l, "", 0, 1000); len(got) != writers*each {
		t.Errorf("%d records, want %d", len(got), writers*each)
	}
	for w := range writers {
		got := readLog(ctx, t, l, fmt.Sprintf("w%d", w), 0, 1000)
		for i, r := range got {
			if r != fmt.Sprintf("w%d=%d", w, i) {
				t.Errorf("record %d of writer %d is %s", i, w, r)
			}
		}
	}
}
