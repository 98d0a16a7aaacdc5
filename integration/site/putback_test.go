package site

import (
	"os"
	"testing"

	agentdaemon "rackboot/agent/daemon"
	"rackboot/protocol/resource"
)

// TestAgentFolderPutBack: an agent's whole folder is put back to a copy, so that nothing in it can tell.
// The hub was told of more, and says so: the agent guards, also after a restart, until somebody accepts
// that its store is lost. A hold that was released after the copy is not taken over, nothing is
// installed twice, and the hold that lies is kept.
func TestAgentFolderPutBack(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	stop := s.startAgent(c)
	early := s.place("n2", "early", resource.HoldFenced).Metadata.Name
	stop()
	old := copyOf(t, c.DataDir)

	stop = s.startAgent(c)
	s.release(early)
	s.provision()
	s.reboot("n1")
	s.untilServer("n1", "the disk boot after the reboot", diskBoot)
	h := s.place("n2", "k", resource.HoldFenced)
	_, before, _, _ := s.servers[0].Boots.Counts()
	stop()
	if err := os.RemoveAll(c.DataDir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(old, c.DataDir); err != nil {
		t.Fatal(err)
	}
	stop = s.startAgent(c)
	guards := func(codes ...resource.ConditionCode) {
		t.Helper()
		s.untilAgent("r1-1", "guard mode", func(a *resource.Agent) bool {
			for _, code := range codes {
				if !has(a.Status.Conditions, code) {
					return false
				}
			}
			return true
		})
	}
	guards(resource.CondAgentRolledBack, resource.CondGuardMode)
	s.untilHold(h.Metadata.Name, resource.HoldEnforced)
	s.staysOff(1)
	stop()
	s.startAgent(c)
	// A hub that is restarted knows of it by the agent only.
	s.until("guard mode at the agent itself, and why", func() bool {
		return s.local(c, resource.CondGuardMode) && s.local(c, resource.CondAgentRolledBack)
	}, func() any { return "none" })
	if n := s.events(resource.EventAgentRolledBack); n != 1 {
		t.Errorf("%d events say that the disk was rolled back", n)
	}
	if n := s.events(resource.EventRenewed); n != 0 {
		t.Errorf("%d new incarnations before somebody has accepted the loss", n)
	}

	if err := agentdaemon.AcceptLoss(c, "operator", "tried"); err != nil {
		t.Fatal(err)
	}
	s.until("the event of another disk", func() bool { return s.events(resource.EventRenewed) > 0 }, func() any { return "none" })
	s.untilHold(h.Metadata.Name, resource.HoldFenced)
	s.until("the second release of the hold that was released", func() bool { return s.events(resource.EventHoldReturned) > 0 }, func() any { return "none" })
	s.until("its end", func() bool { _, ok := get[*resource.Hold](s, early); return !ok }, func() any { return "it lies" })
	if n := s.events(resource.EventHoldAdopted); n != 0 {
		t.Errorf("%d holds are taken over", n)
	}
	s.staysOff(1)
	s.installedOnce()
	if _, disk, _, _ := s.servers[0].Boots.Counts(); disk != before {
		t.Errorf("%d disk boots, and %d before the folder was put back", disk, before)
	}
	s.untilAgent("r1-1", "that nothing is said of it any more", func(a *resource.Agent) bool {
		return !has(a.Status.Conditions, resource.CondAgentRolledBack) && !has(a.Status.Conditions, resource.CondGuardMode)
	})
	s.release(h.Metadata.Name)
	s.reboot("n1") // and it goes on
	s.installedOnce()
}
