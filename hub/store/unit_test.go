package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/state"
)

func openOn(t *testing.T, mem *storetest.Memory) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{KV: mem, Log: mem, Clock: time.Now, NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A hub whose unit was taken writes nothing for it any more, though it has not seen that: one that was stopped, and
// goes on where it was.
func TestADeposedHubWritesNothing(t *testing.T) {
	mem := storetest.NewMemory()
	a, b := openOn(t, mem), openOn(t, mem)
	const unit = "rack/r1"
	u := Unit{Name: unit, Owner: message.Fence{Number: 4, Hub: "run-a"}}
	if err := a.Units.Put(t.Context(), &u); err != nil {
		t.Fatal(err)
	}
	as := Under(t.Context(), unit, "run-a")
	if err := a.Meta.Put(as, "one", []byte("of a"), 0); err != nil {
		t.Fatalf("the owner cannot write: %v", err)
	}
	newest, err := b.Units.Newest(t.Context(), unit)
	if err != nil || newest.Owner != u.Owner {
		t.Fatalf("the other hub reads %+v, %v", newest, err)
	}
	newest.Owner = message.Fence{Number: 5, Hub: "run-b"}
	if err := b.Units.Put(t.Context(), &newest); err != nil {
		t.Fatal(err)
	}
	if seen, err := a.Units.Get(unit); err != nil || seen.Owner.Hub != "run-a" {
		t.Fatalf("the first hub has seen %+v, %v; it is to be behind", seen, err)
	}
	for what, write := range map[string]func(context.Context) error{
		"a new key":  func(ctx context.Context) error { return a.Meta.Put(ctx, "two", []byte("of a"), 0) },
		"a ledger":   func(ctx context.Context) error { return a.Ledgers.Put(ctx, &Ledger{Agent: "agent"}) },
		"its record": func(ctx context.Context) error { return a.Hubs.Put(ctx, &Hub{Name: "a"}) },
	} {
		err := write(as)
		if code := protocol.CodeOf(err); code != protocol.CodeConflict && code != protocol.CodeUnavailable {
			t.Errorf("%s was written: %v", what, err)
		}
	}
	if err := a.Meta.Put(as, "one", []byte("again"), 2); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("once it has lost it knows: %v", err)
	}
	for _, key := range []string{"meta.two", "ledger.agent", "hub.a"} {
		if _, err := mem.Get(t.Context(), key); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("%s is there: %v", key, err)
		}
	}
	if err := b.Meta.Put(Under(t.Context(), unit, "run-b"), "two", []byte("of b"), 0); err != nil {
		t.Errorf("the new owner cannot write: %v", err)
	}
	if err := a.Meta.Put(t.Context(), "three", []byte("of anybody"), 0); err != nil {
		t.Errorf("what is of no unit anybody writes: %v", err)
	}
}

// Beats make nothing old, and no checkpoint counts them.
func TestBeatsPass(t *testing.T) {
	s := openOn(t, storetest.NewMemory())
	h := Hub{Name: "a", Run: "run-a"}
	if err := s.Hubs.Put(t.Context(), &h); err != nil {
		t.Fatal(err)
	}
	s.Heads().Take(true)
	rack := s.Changes("r1")
	h.Beat++
	if err := s.Hubs.Put(t.Context(), &h); err != nil {
		t.Fatal(err)
	}
	if got := s.Hubs.List(); len(got) != 1 || got[0] != h {
		t.Fatalf("there are %+v, not %+v", got, h)
	}
	if s.Changes("r1") != rack {
		t.Error("a beat makes a rack's view old")
	}
	for _, all := range []bool{false, true} {
		if got := s.Heads().Take(all); len(got.There)+len(got.Gone)+len(got.Kinds) > 0 {
			t.Errorf("a checkpoint counts %v %v %v", got.There, got.Gone, got.Kinds)
		}
	}
	if err := s.Hubs.Remove(t.Context(), h); err != nil || len(s.Hubs.List()) != 0 {
		t.Fatalf("it stays: %v", err)
	}
}

// Where several hubs write, a hub whose watch does not run learns of no key alone: a ledger would be newer here than the
// holds that it speaks of.
func TestNoKeyComesAlone(t *testing.T) {
	for _, shared := range []bool{false, true} {
		mem := storetest.NewMemory()
		a, b := openOn(t, mem), openOn(t, mem)
		if shared {
			b.Units.Share()
		}
		one := Ledger{Agent: "agent", Version: 1}
		if err := a.Ledgers.Put(t.Context(), &one); err != nil {
			t.Fatal(err)
		}
		two := Ledger{Agent: "agent", Version: 2}
		if err := b.Ledgers.Put(t.Context(), &two); protocol.CodeOf(err) != protocol.CodeConflict {
			t.Fatalf("a ledger was written over another: %v", err)
		}
		got, err := b.Ledgers.Get("agent")
		if want := map[bool]uint64{false: 1, true: 0}[shared]; err != nil || got.Version != want {
			t.Errorf("shared %t: the mirror has version %d, not %d: %v", shared, got.Version, want, err)
		}
	}
}
