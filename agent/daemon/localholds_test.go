package daemon

import (
	"crypto/ed25519"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/agent/guard"
	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state/badger"
)

// TestLocalHolds: what was placed at an agent is read from its folder, and signed by its key; nothing else is, and a
// folder that has no agent is refused.
func TestLocalHolds(t *testing.T) {
	c := Config{DataDir: t.TempDir()}
	if _, _, err := LocalHolds(c); protocol.CodeOf(err) != protocol.CodeNotFound || protocol.HintOf(err) == "" {
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
	if _, _, err := LocalHolds(c); protocol.CodeOf(err) != protocol.CodeNotFound || protocol.HintOf(err) == "" {
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
	if _, _, err := LocalHolds(c); err == nil {
		t.Error("the agent runs, and its disk is read")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "r1-1.holds")
	if m, err := WriteLocalHolds(c, out); err != nil || len(m.Holds) != 2 {
		t.Errorf("%+v, %v", m, err)
	}
	if raw, err := os.ReadFile(out); err != nil || len(raw) == 0 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
	if _, err := WriteLocalHolds(c, filepath.Join(out, "below-a-file")); err == nil || protocol.HintOf(err) == "" {
		t.Errorf("a file that cannot be: %v", err)
	}
	for range 2 {
		m, sealed, err := LocalHolds(c)
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

// TestLocalHoldsOfADamagedDisk: what was placed at an agent that could not record it is read too; of a database that lacks
// something, or a guard set that cannot be read, nobody is told that these are all.
func TestLocalHoldsOfADamagedDisk(t *testing.T) {
	const placed = "placed-in-guard-mode"
	guards := func(g *guarded) { // an agent whose disk is full takes a hold
		set := guard.Open(guard.Config{Agent: "r1-1", Dir: g.cfg.DataDir, Clock: time.Now})
		have, _ := set.Set()
		s := have.Servers[heldServer]
		raw, err := json.Marshal(decide.Hold{ActiveHold: resource.ActiveHold{ID: placed, HoldSpec: resource.HoldSpec{Server: heldServer, Owner: "local:root", HoldTerms: resource.HoldTerms{Key: "hands", Mode: resource.StopHard}}}, Local: true})
		g.must(err)
		s.Holds = maps.Clone(s.Holds)
		s.Holds[placed] = guard.Hold{Value: raw}
		set.Ahead(guard.Change{Servers: map[string]guard.Server{heldServer: s}})
		g.must(set.Close())
	}
	for name, row := range map[string]struct {
		harm func(g *guarded)
		want []string // nil is refused
	}{
		"whole":                    {func(*guarded) {}, []string{placed}},
		"one guard slot is broken": {func(g *guarded) { flipAt(g.t, g.cfg.path("guard.0"), 70) }, []string{placed}},
		"both are": {func(g *guarded) {
			flipAt(g.t, g.cfg.path("guard.0"), 70)
			flipAt(g.t, g.cfg.path("guard.1"), 70)
		}, nil},
		"the manifest is cut":   {func(g *guarded) { g.must(os.Truncate(g.cfg.path("state", "MANIFEST"), 5)) }, nil},
		"the database is older": {func(g *guarded) { g.replace(g.cfg.path("state") + ".older") }, nil},
		"the database is an empty": {func(g *guarded) {
			g.must(os.RemoveAll(g.cfg.path("state")))
			g.must(os.Mkdir(g.cfg.path("state"), 0o700))
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t, t.TempDir())
			guards(g)
			row.harm(g)
			m, _, err := LocalHolds(g.cfg)
			var got []string
			for _, h := range m.Holds {
				got = append(got, h.ID)
			}
			if !slices.Equal(got, row.want) || (err == nil) != (row.want != nil) || err != nil && !strings.Contains(protocol.HintOf(err), "--loss-accepted") {
				t.Errorf("%v, %v, hint %q", got, err, protocol.HintOf(err))
			}
		})
	}
}
