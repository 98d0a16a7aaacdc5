package apitest

import (
	"context"
	"crypto/ed25519"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/api"
	"rackboot/hub/audit"
	"rackboot/hub/auditcopy"
	"rackboot/hub/auditcopy/copytest"
	"rackboot/protocol"
	"rackboot/protocol/auditlog"
	"rackboot/protocol/wire"
)

// NewOfTwo starts a Hub that shares its store: it is hub-1, and hub-2 is gone, whose log begins with four entries, three of them about Server/n2.
func NewOfTwo(t testing.TB) *Hub {
	t.Helper()
	return NewWith(t, func(cfg *api.Config) { cfg.AuditSite = ofTwo(t, cfg.AuditLog.(*audit.Log)) })
}

// ofTwo has the logs of both hubs.
func ofTwo(t testing.TB, own *audit.Log) *auditcopy.Room {
	t.Helper()
	stream := &copytest.Stream{}
	signer := wire.NewSigner(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	heads := map[string]auditlog.Head{}
	room := func(hub string) *auditcopy.Room {
		return auditcopy.New(auditcopy.Config{
			Hub: hub, Open: func(context.Context) (auditcopy.Journal, error) { return stream, nil },
			Head: func(_ context.Context, hub string) (auditlog.Head, error) { return heads[hub], nil },
			Hubs: func() []string { return nil }, Signer: signer, Clock: Now,
		})
	}
	gone, err := audit.Open(audit.Config{Dir: t.TempDir(), Signer: signer, Clock: Now, Registerer: prometheus.NewRegistry(), Hub: "hub-2"})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		e := protocol.AuditEntry{Caller: "ha", Op: "hold", Target: "Server/n2", Outcome: protocol.AuditAsked}
		if _, err := gone.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	copied := room("hub-2")
	copied.Start(gone)
	seq, hash := gone.Head()
	for tries := 0; ; tries++ {
		err := copied.Follow(t.Context(), seq) // for some seconds
		end, endErr := copied.End(t.Context())
		if err != nil || endErr != nil || tries == 12 {
			t.Fatalf("the log of hub-2 is not copied: %v, %v", err, endErr)
		}
		if end.Seq == seq {
			break
		}
	}
	copied.Close()
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	heads["hub-2"] = auditlog.Head{Hub: "hub-2", Seq: seq, Hash: hash}
	r := room("hub-1")
	r.Start(own)
	t.Cleanup(r.Close)
	return r
}
