package link

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"rackboot/hub/fence"
	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/hub/terms"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
)

// BenchmarkResend is one look for what is to be sent, which is made every second,
// with 1,000 agents that have acknowledged everything.
func BenchmarkResend(b *testing.B) {
	c := many(b, 1000)
	for b.Loop() {
		c.delivery.all()
	}
}

// BenchmarkSyncs says to 1,000 agents what they should have, which is done every
// minute, spread over it.
func BenchmarkSyncs(b *testing.B) {
	c := many(b, 1000)
	for b.Loop() {
		for _, agent := range c.contacts.names() {
			c.contacts.with(agent, func(k *contact) { k.nonces.now, k.nextSync = slot{session: "s", nonce: "n"}, time.Time{} })
		}
		c.sessions.syncs(c.cfg.Clock())
	}
}

// many is a hub with agents that have acknowledged everything.
func many(b *testing.B, agents int) *Room {
	b.Helper()
	mem, now := storetest.NewMemory(), func() time.Time { return time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC) }
	st, err := store.Open(b.Context(), store.Config{KV: mem, Log: mem, Clock: now, NewID: func() string { return "id" }})
	if err != nil {
		b.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	start, err := fence.Begin(b.Context(), st.Meta, now, log, "bench")
	if err != nil {
		b.Fatal(err)
	}
	seed := sha256.Sum256([]byte("hub"))
	signer := wire.NewSigner(ed25519.NewKeyFromSeed(seed[:]))
	c := New(Config{
		Store: st, Start: start, Signer: signer, Terms: terms.New(st, signer, log, nil), Reports: reports.New(),
		Publish: func(string, []byte) error { return nil }, Random: rand.Reader, Clock: now, NewID: func() string { return "id" }, Logger: log,
	})
	for i := range agents {
		name := fmt.Sprintf("r%04d", i)
		rack := storetest.Rack(name)
		rack.Status.Agent, rack.Status.Term = name+"-1", 1
		if err := st.Objects.Put(b.Context(), rack); err != nil {
			b.Fatal(err)
		}
		l := store.Ledger{Agent: name + "-1", Sent: map[string]store.SentDoc{}, Acked: map[string]protocol.Head{}}
		for v, leaf := range []string{message.LeafHold, "rack/0"} {
			body := make([]byte, 8<<10)
			sum := sha256.Sum256([]byte(leaf))
			copy(body, sum[:])
			head := protocol.Head{Epoch: 1, Version: uint64(v + 1)}
			l.Sent[leaf], l.Acked[leaf] = store.SentDoc{Head: head, Body: body, Digest: "sha256:" + name}, head
		}
		if err := st.Ledgers.Put(b.Context(), &l); err != nil {
			b.Fatal(err)
		}
		c.contacts.with(l.Agent, func(k *contact) { k.progress.stage = stageReady })
	}
	return c
}
