package statetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
		{"after another", logAfter},
		{"after another at once", logAfterAtOnce},
		{"invalid", logInvalid},
		{"concurrent", logConcurrent},
		{"tail", logTail},
		{"cut", logCut},
		{"cut while it is read", logCutRead},
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

// logAfter appends only after the newest record of the subject; those of other subjects do not count.
func logAfter(ctx context.Context, t *testing.T, l state.Log) {
	first, err := l.AppendAfter(ctx, "a", []byte("1"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(ctx, "b", []byte("x"), ""); err != nil {
		t.Fatal(err)
	}
	for _, last := range []uint64{0, first + 1, first + 2} {
		if _, err := l.AppendAfter(ctx, "a", []byte("no"), last); !errors.Is(err, state.ErrConflict) {
			t.Errorf("after %d, where %d is the newest: %v", last, first, err)
		}
	}
	second, err := l.AppendAfter(ctx, "a", []byte("2"), first)
	if err != nil || second <= first {
		t.Fatalf("%d after %d: %v", second, first, err)
	}
	third, err := l.Append(ctx, "a", []byte("3"), "") // by who does not ask
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.AppendAfter(ctx, "a", []byte("no"), second); !errors.Is(err, state.ErrConflict) {
		t.Errorf("%v", err)
	}
	if err := l.Cut(ctx, "a", third); err != nil { // the newest stays
		t.Fatal(err)
	}
	if _, err := l.AppendAfter(ctx, "a", []byte("4"), third); err != nil {
		t.Error(err)
	}
	records, err := l.Read(ctx, "a", 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 2 || string(records[0].Data) != "3" || string(records[1].Data) != "4" {
		t.Errorf("%+v", records)
	}
}

// logAfterAtOnce has many append after the same record: one does, and all do in the end.
func logAfterAtOnce(ctx context.Context, t *testing.T, l state.Log) {
	const writers = 8
	var all sync.WaitGroup
	var conflicts atomic.Int64
	for w := range writers {
		all.Go(func() {
			for last := uint64(0); ; {
				_, err := l.AppendAfter(ctx, "a", fmt.Append(nil, w), last)
				if err == nil {
					return
				}
				if !errors.Is(err, state.ErrConflict) {
					t.Error(err)
					return
				}
				conflicts.Add(1)
				newest, err := l.Tail(ctx, "a", 1)
				if err != nil {
					t.Error(err)
					return
				}
				if len(newest) > 0 {
					last = newest[0].Seq
				}
			}
		})
	}
	all.Wait()
	records, err := l.Read(ctx, "a", 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range records {
		seen[string(r.Data)] = true
	}
	if len(records) != writers || len(seen) != writers {
		t.Errorf("%d records of %d writers", len(records), len(seen))
	}
	t.Logf("%d conflicts", conflicts.Load())
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

// tail is the end of a log as "data".
func tail(ctx context.Context, t *testing.T, l state.Log, subject string, limit int) (out []string) {
	t.Helper()
	records, err := l.Tail(ctx, subject, limit)
	must(t, err)
	var last uint64
	for _, r := range records {
		if r.Seq <= last || r.Subject != subject || time.Since(r.At).Abs() > time.Hour {
			t.Errorf("seq %d of %s at %s after %d", r.Seq, r.Subject, r.At, last)
		}
		last = r.Seq
		out = append(out, string(r.Data))
	}
	return out
}

func logTail(ctx context.Context, t *testing.T, l state.Log) {
	want(t, tail(ctx, t, l, "a", 3))
	var all []string
	for i := range 40 {
		for _, subject := range []string{"b", "a", "a.x"}[i%3:] {
			_, err := l.Append(ctx, subject, fmt.Append(nil, i), "")
			must(t, err)
		}
		if i%3 < 2 {
			all = append(all, fmt.Sprint(i))
		}
		want(t, tail(ctx, t, l, "a", 3), all[max(0, len(all)-3):]...)
	}
	for limit := 1; limit <= len(all)+1; limit++ {
		want(t, tail(ctx, t, l, "a", limit), all[max(0, len(all)-limit):]...)
	}
	want(t, tail(ctx, t, l, "c", 3))
}

func logCut(ctx context.Context, t *testing.T, l state.Log) {
	must(t, l.Cut(ctx, "a", 7))
	var seqs []uint64
	for i := range 12 {
		seq, err := l.Append(ctx, []string{"a", "b"}[i%2], fmt.Append(nil, i), fmt.Sprintf("id-%d", i))
		must(t, err)
		seqs = append(seqs, seq)
	}
	before, err := l.Size(ctx)
	must(t, err)
	if before == 0 {
		t.Error("it has no bytes")
	}
	for _, upTo := range []uint64{0, seqs[0] - 1} {
		must(t, l.Cut(ctx, "a", upTo))
		want(t, readLog(ctx, t, l, "a", 0, 10), "a=0", "a=2", "a=4", "a=6", "a=8", "a=10")
	}
	for range 2 { // a second time nothing more
		must(t, l.Cut(ctx, "a", seqs[5])) // which is of b
		want(t, readLog(ctx, t, l, "", 0, 100), "b=1", "b=3", "b=5", "a=6", "b=7", "a=8", "b=9", "a=10", "b=11")
		want(t, readLog(ctx, t, l, "a", seqs[0], 2), "a=6", "a=8")
		want(t, tail(ctx, t, l, "a", 2), "8", "10")
		want(t, tail(ctx, t, l, "a", 5), "6", "8", "10")
	}
	must(t, l.Cut(ctx, "a", seqs[11]+100)) // the newest stays
	want(t, readLog(ctx, t, l, "a", 0, 10), "a=10")
	again, err := l.Append(ctx, "a", []byte("0"), "id-0") // what was cut off is not appended again
	if must(t, err); again != seqs[0] {
		t.Errorf("it is appended again at %d; it was at %d", again, seqs[0])
	}
	next, err := l.Append(ctx, "a", []byte("12"), "")
	if must(t, err); next <= seqs[11] {
		t.Errorf("after %d comes %d", seqs[11], next)
	}
	want(t, readLog(ctx, t, l, "", 0, 100), "b=1", "b=3", "b=5", "b=7", "b=9", "a=10", "b=11", "a=12")
}

// logCutRead reads from the beginning to the end while the beginning is cut off.
func logCutRead(ctx context.Context, t *testing.T, l state.Log) {
	const records = 600 // more than a client fetches ahead
	var last uint64
	for i := range records {
		seq, err := l.Append(ctx, "a", fmt.Append(nil, i), "")
		must(t, err)
		last = seq
	}
	var cutting sync.WaitGroup
	cutting.Go(func() {
		for upTo := uint64(50); upTo < last; upTo += 50 {
			if err := l.Cut(ctx, "a", upTo); err != nil {
				t.Error(err)
			}
		}
	})
	for range 10 {
		got := readLog(ctx, t, l, "a", 1, records)
		if len(got) == 0 || got[len(got)-1] != fmt.Sprintf("a=%d", records-1) {
			t.Errorf("%d records, without the newest", len(got))
		}
	}
	cutting.Wait()
}
