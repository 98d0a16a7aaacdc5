package daemon

import (
	"log/slog"
	"strings"
	"testing"

	"rackboot/agent"
	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/state/badger"
)

// The hub's word that a store is an older copy is kept beside it: at the next start, with the hub away,
// it is not used. One that has as much as the hub knows of is.
func TestRevertedIsKept(t *testing.T) {
	c := Config{DataDir: t.TempDir()}
	db, err := badger.Open(badger.Config{Dir: c.path("state")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	st, err := store.Open(store.Config{DB: db, NewID: func() string { return "one" }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Events.Began(); err != nil {
		t.Fatal(err)
	}
	a, _ := anchorOf(t, c.DataDir)
	if err := a.take(st); err != nil {
		t.Fatal(err)
	}
	names := len(mustAnchor(t, st).Names)
	for _, row := range []struct {
		name string
		told agent.RolledBackError
		want store.Condition
	}{
		{"the hub knows of more", agent.RolledBackError{Incarnation: "one", Had: st.Head().Sequence + 5}, store.DatabaseReverted},
		{"it has come as far since, by other changes", agent.RolledBackError{Incarnation: "one", Had: 1}, store.DatabaseReverted},
		{"another store is in its place", agent.RolledBackError{Incarnation: "other", Had: 100}, store.DatabaseWhole},
	} {
		s := &stores{cfg: c, anchor: a, log: slog.New(slog.DiscardHandler)}
		why := s.reverts(&row.told)
		if protocol.CodeOf(why) != protocol.CodeInternal || !strings.Contains(why.Error(), "the hub was told of more") || !strings.Contains(protocol.HintOf(why), "accept-loss") {
			t.Errorf("%s: it says %v, %s", row.name, why, protocol.HintOf(why))
		}
		_, known := anchorOf(t, c.DataDir)
		if len(known.Names) != names {
			t.Errorf("%s: what is known by name is %v", row.name, known.Names)
		}
		in, err := store.Inspect(db, known)
		if err != nil || in.Condition != row.want {
			t.Errorf("%s: the next start finds it %s, %v", row.name, in.Condition, err)
		}
		known.Reverted.Sequence = st.Head().Sequence
		if in, err := store.Inspect(db, known); err != nil || in.Condition != store.DatabaseWhole {
			t.Errorf("%s: one that has as much is %s, %v", row.name, in.Condition, err)
		}
	}
}

func mustAnchor(t *testing.T, st *store.Store) store.Anchor {
	t.Helper()
	a, err := st.Anchor()
	if err != nil {
		t.Fatal(err)
	}
	return a
}
