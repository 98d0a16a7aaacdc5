package store_test

import (
	"context"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/state"
)

// faulty is a store that fails where it is told to.
type faulty struct {
	*storetest.Memory
	write, read error
	before      func() // each Update
	lie         bool   // what was written is not read
}

func (f *faulty) Create(ctx context.Context, key string, value []byte) (uint64, error) {
	if f.write != nil {
		return 0, f.write
	}
	return f.Memory.Create(ctx, key, value)
}

func (f *faulty) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if f.before != nil {
		f.before()
	}
	if f.write != nil {
		return 0, f.write
	}
	if f.lie {
		return revision + 1, nil
	}
	return f.Memory.Update(ctx, key, value, revision)
}

func (f *faulty) Get(ctx context.Context, key string) (state.Entry, error) {
	if f.read != nil {
		return state.Entry{}, f.read
	}
	return f.Memory.Get(ctx, key)
}

// A probe says whether the store is written and read, and is seen by nobody: it wakes
// nobody, makes no view old, is no entry after a restart, and is one key.
func TestProbe(t *testing.T) {
	t.Parallel()
	kv := &faulty{Memory: storetest.NewMemory()}
	n := 0
	open := func() *store.Store {
		s, err := store.Open(t.Context(), store.Config{KV: kv, Log: kv.Memory, Clock: time.Now, NewID: func() string { n++; return string(rune('a' + n)) }})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	woken, end := s.Subscribe()
	defer end()
	for range 3 {
		if err := s.Probe(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Meta.Put(t.Context(), "x", nil, 0); err != nil {
		t.Fatal(err)
	}
	<-woken // by the put, and only by that
	if n := s.Changes(""); n != 1 {
		t.Errorf("%d changes, want the one of the put", n)
	}
	if entries, _, err := kv.List(t.Context(), "probe."); err != nil || len(entries) != 1 {
		t.Errorf("%d keys, %v", len(entries), err)
	}
	stop()
	<-ran
	if n := open().Changes(""); n != 1 {
		t.Errorf("%d entries after a restart, want the one of the put", n)
	}
	full := protocol.Errorf(protocol.CodeUnavailable, "put", "disk full").WithHint("free space")
	for _, row := range []struct {
		name string
		set  func()
		code protocol.Code
	}{
		{"writes fail", func() { kv.write = full }, protocol.CodeUnavailable},
		{"reads fail", func() { kv.read = full }, protocol.CodeUnavailable},
		{"no answer in time", func() { kv.write = context.DeadlineExceeded }, protocol.CodeTimeout},
		{"what was acknowledged is not there", func() { kv.lie = true }, protocol.CodeUnavailable},
		{"another hub probes, always", func() {
			kv.before = func() {
				e, _ := kv.Memory.Get(t.Context(), "probe.ready")
				_, _ = kv.Memory.Update(t.Context(), "probe.ready", []byte("other"), e.Revision)
			}
		}, protocol.CodeConflict},
		{"another hub probes, once", func() {
			kv.before = func() {
				kv.before = nil
				e, _ := kv.Memory.Get(t.Context(), "probe.ready")
				_, _ = kv.Memory.Update(t.Context(), "probe.ready", []byte("other"), e.Revision)
			}
		}, ""},
	} {
		kv.write, kv.read, kv.before, kv.lie = nil, nil, nil, false
		row.set()
		if err := s.Probe(t.Context()); protocol.CodeOf(err) != row.code && (err != nil || row.code != "") {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	kv.write, kv.read, kv.before, kv.lie = nil, nil, nil, false
	if err := s.Probe(t.Context()); err != nil {
		t.Errorf("after all of it: %v", err)
	}
}
