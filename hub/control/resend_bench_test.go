package control

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// BenchmarkResend is one look for what is to be sent, which is made every second,
// with 1,000 agents that have acknowledged everything.
func BenchmarkResend(b *testing.B) {
	c := many(b, 1000)
	for b.Loop() {
		c.resend()
	}
}

// BenchmarkSyncs says to 1,000 agents what they should have, which is done every
// minute, spread over it.
func BenchmarkSyncs(b *testing.B) {
	c := many(b, 1000)
	for b.Loop() {
		for _, agent := range c.contacts.names() {
			c.contacts.with(agent, func(k *contact) { k.now, k.nextSync = slot{session: "s", nonce: "n"}, time.Time{} })
		}
		c.syncs(c.cfg.Clock())
	}
}

// many is a hub with agents that have acknowledged everything.
func many(b *testing.B, agents int) *Control {
	b.Helper()
	mem, now := storetest.NewMemory(), func() time.Time { return time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC) }
	st, err := store.Open(b.Context(), store.Config{KV: mem, Log: mem, Clock: now, NewID: func() string { return "id" }})
	if err != nil {
		b.Fatal(err)
	}
	c, err := New(b.Context(), Config{
		Store: st, Signer: wire.NewSigner(key("hub")), Publish: func(string, []byte) error { return nil }, Random: &counting{},
		Clock: now, NewID: func() string { return "id" }, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	if err != nil {
		b.Fatal(err)
	}
	for i := range agents {
		name := fmt.Sprintf("r%04d", i)
		rack := storetest.Rack(name)
		rack.Status.Agent, rack.Status.Term = name+"-1", 1
		if err := st.Put(b.Context(), rack); err != nil {
			b.Fatal(err)
		}
		l := store.Ledger{Agent: name + "-1", Sent: map[string]store.SentDoc{}, Acked: map[string]protocol.Head{}}
		for v, leaf := range []string{protocol.LeafHold, "rack/0"} {
			body := make([]byte, 8<<10)
			sum := sha256.Sum256([]byte(leaf))
			copy(body, sum[:])
			head := protocol.Head{Epoch: 1, Version: uint64(v + 1)}
			l.Sent[leaf], l.Acked[leaf] = store.SentDoc{Head: head, Body: body, Digest: "sha256:" + name}, head
		}
		if err := st.PutLedger(b.Context(), &l); err != nil {
			b.Fatal(err)
		}
		c.contacts.with(l.Agent, func(k *contact) { k.stage = stageReady })
	}
	return c
}
