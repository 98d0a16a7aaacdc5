package site

import (
	"os"
	"path/filepath"
	"testing"

	agentdaemon "rackboot/agent/daemon"
	"rackboot/agent/store"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state/badger"
)

// TestHubPutBack: a hub's whole folder is put back to before a change that no document of an agent has, so
// that neither the folder nor a document can tell. An agent was told of the store, and gives that back: the
// hub only reads, and says what it lacks of which kind, until an operator decides; no hold ends meanwhile.
func TestHubPutBack(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	stop := s.startAgent(c)
	held := s.place("n1", "k", resource.HoldFenced)
	s.stopHub()
	saved := copyOf(t, s.hub.DataDir)
	s.startHub()
	later := &resource.Rack{}
	later.Metadata.Name = "later"
	later.Default()
	s.apply(later)
	const more = 4 // than a start on the copy writes
	for before := s.told(c, &stop); s.told(c, &stop) < before+more; {
		s.stopHub()
		s.startHub() // it tells what it has in answer to the next Hello
		s.untilAgent("r1-1", "its reports, which come after the answer", func(a *resource.Agent) bool { return len(a.Status.Conditions) == 0 })
	}
	s.stopHub()
	if err := os.RemoveAll(s.hub.DataDir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(saved, s.hub.DataDir); err != nil {
		t.Fatal(err)
	}
	s.runHub()
	s.agentHas("r1-1", resource.CondStoreLost)
	s.staysOff(0)
	_, err := s.client.Holds.Release(t.Context(), held.Metadata.Name, api.ReleaseRequest{})
	if protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("a hold is released: %v", err)
	}
	s.stopHub()
	if _, err := hubdaemon.RaiseEpoch(t.Context(), s.hub); err != nil {
		t.Fatal(err)
	}
	s.startHub()
	s.untilAgent("r1-1", "that nothing is said of it any more", func(a *resource.Agent) bool { return len(a.Status.Conditions) == 0 })
	s.untilHold(held.Metadata.Name, resource.HoldFenced)
	s.release(held.Metadata.Name)
}

// told is how far the hub's store had come that the agent was told of last, as it lies on its disk. The agent
// is stopped for that, and started again.
func (s *site) told(c agentdaemon.Config, stop *func()) uint64 {
	s.t.Helper()
	(*stop)()
	defer func() { *stop = s.startAgent(c) }()
	db, err := badger.Open(badger.Config{Dir: filepath.Join(c.DataDir, "state")})
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	st, err := store.Open(store.Config{DB: db, NewID: func() string { return "" }})
	if err != nil {
		s.t.Fatal(err)
	}
	sealed, err := st.Term.HubHead()
	if err != nil || len(sealed) == 0 {
		return 0
	}
	var head message.HubHead
	e, err := wire.Inspect(sealed)
	if err == nil {
		err = e.Decode(&head)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return head.Sequence
}
