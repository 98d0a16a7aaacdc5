package site

import (
	"os"
	"testing"

	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
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
	s.startAgent(c)
	held := s.place("n1", "k", resource.HoldFenced)
	s.stopHub()
	saved := copyOf(t, s.hub.DataDir)
	s.startHub()
	later := &resource.Rack{}
	later.Metadata.Name = "later"
	later.Default()
	s.apply(later)
	s.stopHub()
	s.startHub() // and the agent is told of it, in answer to its Hello
	s.untilAgent("r1-1", "its reports, which come after the answer", func(a *resource.Agent) bool { return len(a.Status.Conditions) == 0 })
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
