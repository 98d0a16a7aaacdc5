package link

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rackboot/hub/fence"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
)

// Changes of one agent's ledger follow one another, those of different agents do not wait, and whoever waits
// does so no longer than its context says.
func TestLedgerLines(t *testing.T) {
	kv := storetest.NewMemory()
	s, err := store.Open(t.Context(), store.Config{KV: kv, Log: kv, Clock: time.Now, NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	go s.Run(t.Context())
	start, err := fence.Begin(t.Context(), s.Meta, time.Now, slog.New(slog.DiscardHandler), "hub")
	if err != nil {
		t.Fatal(err)
	}
	signer := wire.NewSigner(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	r := New(Config{Store: s, Start: start, Signer: signer, Clock: time.Now, Logger: slog.New(slog.DiscardHandler)})
	enter := func(ctx context.Context, agent string, n int, during func()) error {
		_, err := r.Enter(ctx, agent, func(e *Entry) {
			during()
			d := message.RackDoc{Agent: agent, Term: uint64(n)}
			e.Put(RackLeaf(0), &d, &d.Head, &d.IssuedAt, &d.Fence)
		})
		return err
	}

	var tries, inside atomic.Int64
	var all sync.WaitGroup
	const changes = 50
	for n := range changes {
		all.Go(func() {
			err := enter(t.Context(), "r1-1", n+1, func() {
				tries.Add(1)
				if inside.Add(1) > 1 {
					t.Error("two change one ledger")
				}
				for range 10 {
					runtime.Gosched()
				}
				inside.Add(-1)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if tries.Load() != changes {
		t.Errorf("%d tries for %d changes", tries.Load(), changes)
	}

	entered, leave := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		if err := enter(t.Context(), "r1-1", changes+1, func() { close(entered); <-leave }); err != nil {
			t.Error(err)
		}
	})
	<-entered
	if err := enter(t.Context(), "r2-1", 1, func() {}); err != nil {
		t.Errorf("another agent's: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := enter(ctx, "r1-1", changes+2, func() { t.Error("it was changed") }); protocol.CodeOf(err) != protocol.CodeTimeout {
		t.Errorf("whoever does not wait any more: %v", err)
	}
	close(leave)
	all.Wait()
}
