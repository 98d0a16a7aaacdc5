package fence_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"rackboot/hub/fence"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
)

func open(t *testing.T, kv *storetest.Memory) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{KV: kv, Log: kv, Clock: time.Now, NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A number is taken by compare-and-set, whoever comes between; and the older of two starts on a store
// steps down when it looks.
func TestNumberIsTakenOnce(t *testing.T) {
	kv := storetest.NewMemory()
	one, other := open(t, kv), open(t, kv)
	taken := map[uint64]string{}
	var starts []*fence.Start
	for i, s := range []*store.Store{one, other, one, other} {
		b, err := fence.Begin(t.Context(), s.Meta, time.Now, slog.New(slog.DiscardHandler), fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		n := b.Fence().Number
		if taken[n] != "" {
			t.Errorf("number %d was taken by start %s already", n, taken[n])
		}
		taken[n] = b.Fence().Hub
		starts = append(starts, b)
	}
	newest := starts[3]
	if newest.Overtaken() || newest.Writable() != nil {
		t.Error("the newest start steps down")
	}
	if !starts[1].Overtaken() || protocol.CodeOf(starts[1].Writable()) != protocol.CodeUnavailable || starts[1].SteppedDownAt().IsZero() {
		t.Error("an older start on the same store does not step down")
	}
}

// A store that was restored begins at a number far above those that the lost hub can have had, and
// with the next epoch.
func TestRaiseEpoch(t *testing.T) {
	s := open(t, storetest.NewMemory())
	before, err := fence.Begin(t.Context(), s.Meta, time.Now, slog.New(slog.DiscardHandler), "before")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fence.RaiseEpoch(t.Context(), s, 0); err != nil {
		t.Fatal(err)
	}
	after, err := fence.Begin(t.Context(), s.Meta, time.Now, slog.New(slog.DiscardHandler), "after")
	if err != nil {
		t.Fatal(err)
	}
	if after.Epoch() != before.Epoch()+1 || after.Fence().Number < 1<<20 {
		t.Errorf("after: epoch %d, number %d", after.Epoch(), after.Fence().Number)
	}
	if after.Yields(t.Context(), "r1-1", message.Fence{Number: 40, Hub: "lost"}) {
		t.Error("it steps down before the lost hub's number")
	}
}
