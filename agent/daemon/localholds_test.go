package daemon

import (
	"crypto/ed25519"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state/badger"
)

// TestLocalHolds: what was placed at an agent is read from its folder, and signed by its key; nothing else is, and a
// folder that has no agent is refused.
func TestLocalHolds(t *testing.T) {
	c := Config{DataDir: t.TempDir()}
	quiet := slog.New(slog.DiscardHandler)
	if _, _, err := LocalHolds(c, quiet); protocol.CodeOf(err) != protocol.CodeNotFound || protocol.HintOf(err) == "" {
		t.Errorf("an empty folder: %v", err)
	}
	id, _, err := newIdentity("token", "host")
	if err != nil {
		t.Fatal(err)
	}
	id.Answer = api.JoinAnswer{Agent: "r1-1", Rack: "r1", Term: 1}
	if err := id.save(c.DataDir, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := LocalHolds(c, quiet); protocol.CodeOf(err) != protocol.CodeNotFound || protocol.HintOf(err) == "" {
		t.Errorf("no database: %v", err)
	}
	db, err := badger.Open(badger.Config{Dir: c.path("state"), MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Config{DB: db, NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	hold := func(id string) resource.ActiveHold {
		return resource.ActiveHold{ID: id, HoldSpec: resource.HoldSpec{Server: "n1", Owner: "o", HoldTerms: resource.HoldTerms{Key: id, Mode: resource.StopHard}}}
	}
	tell := func(version uint64, holds ...resource.ActiveHold) {
		if _, _, err := s.Documents.ApplyHolds(time.Now(), message.HoldDoc{Head: protocol.Head{Version: version}, Holds: holds}, "d"); err != nil {
			t.Fatal(err)
		}
	}
	tell(1, hold("a"), hold("b"))
	tell(2, hold("b")) // a is missing at the hub
	if _, _, err := s.Local.Hold(time.Now(), hold("c")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := LocalHolds(c, quiet); err == nil {
		t.Error("the agent runs, and its disk is read")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "r1-1.holds")
	if m, err := WriteLocalHolds(c, out, quiet); err != nil || len(m.Holds) != 2 {
		t.Errorf("%+v, %v", m, err)
	}
	if raw, err := os.ReadFile(out); err != nil || len(raw) == 0 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
	if _, err := WriteLocalHolds(c, filepath.Join(out, "below-a-file"), quiet); err == nil || protocol.HintOf(err) == "" {
		t.Errorf("a file that cannot be: %v", err)
	}
	for range 2 {
		m, sealed, err := LocalHolds(c, quiet)
		if err != nil || len(m.Holds) != 2 || m.Holds[0].ID != "a" || m.Holds[1].ID != "c" {
			t.Fatalf("%+v, %v", m, err)
		}
		var read message.LocalHolds
		pub := ed25519.NewKeyFromSeed(id.Key).Public().(ed25519.PublicKey)
		if err := wire.Open(wire.NewVerifier(pub), wire.FactLocalHolds, sealed, &read); err != nil || read.Agent != "r1-1" || read.Rack != "r1" || read.Term != 1 || len(read.Holds) != 2 || read.At.IsZero() {
			t.Errorf("%+v, %v", read, err)
		}
	}
}
