package site

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestHubRestored: a hub whose folder was restored from a copy has older documents
// than the agent. The hub makes no newer ones, says so, and the agent keeps its holds; the operator
// raises the epoch, and everything goes on. What was made after the copy is made
// again; nothing is installed twice.
func TestHubRestored(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	s.startAgent(c)
	s.apply(s.claim("n1"))
	s.untilServer("n1", "the claim at the agent", func(v *resource.Server) bool { return v.Status.Report.OwnerUID != "" })
	s.stopHub()
	saved := filepath.Join(t.TempDir(), "copy")
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", s.hub.DataDir, saved).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// After the copy: the installation ends, and a hold is placed.
	s.startHub()
	s.untilServer("n1", "the disk boot after the installation", diskBoot)
	lost := s.place("n2", "k", resource.HoldFenced)
	s.stopHub()

	if err := os.RemoveAll(s.hub.DataDir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(saved, s.hub.DataDir); err != nil {
		t.Fatal(err)
	}
	s.runHub()
	s.agentHas("r1-1", resource.CondHubBehind)
	s.staysOff(1)

	s.stopHub()
	if epoch, err := hubdaemon.RaiseEpoch(t.Context(), s.hub); err != nil || epoch != 2 {
		t.Fatalf("epoch %d, %v", epoch, err)
	}
	s.startHub()
	early := s.accepted("n2", "early")
	s.untilHold(early.Metadata.Name, resource.HoldFenced)
	// The hold that the hub had lost never let go; the hub learns of it from the agent.
	s.untilHold(lost.Metadata.Name, resource.HoldFenced)
	s.release(early.Metadata.Name)
	s.staysOff(1)
	s.untilServer("n2", "the hold that the hub had lost, alone", func(v *resource.Server) bool {
		h := v.Status.Report.Holds
		return len(h) == 1 && h[0].ID == lost.Metadata.Name
	})
	s.release(lost.Metadata.Name)
	s.untilServer("n2", "the end of its holds", func(v *resource.Server) bool { return len(v.Status.Report.Holds) == 0 })

	// The hub adopts what the agent signed meanwhile.
	s.until("the provisioned record", func() bool {
		b, ok := get[*resource.BootConfiguration](s, "c-n1")
		return ok && b.Status.Provisioned != nil
	}, func() any { return "none" })
	s.installedOnce()
	var a *resource.Agent
	s.until("the end of the refusals", func() bool {
		a, _ = get[*resource.Agent](s, "r1-1")
		return len(a.Status.Conditions) == 0
	}, func() any { return a.Status.Conditions })
}

// accepted places a hold and does not wait.
func (s *site) accepted(server, key string) *resource.Hold {
	s.t.Helper()
	h, err := s.client.Holds.Create(s.t.Context(), server, api.HoldRequest{HoldTerms: resource.HoldTerms{Key: key, Mode: resource.StopHard}})
	if err != nil {
		s.t.Fatal(err)
	}
	return h
}
