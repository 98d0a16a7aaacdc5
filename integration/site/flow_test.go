package site

import (
	"testing"

	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestClaimToRelease is the main job over hub and agent, with the hub away in its
// middle, then both sides restarted, and the claim's end.
func TestClaimToRelease(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	if name := s.join(c); name != "r1-1" {
		t.Errorf("the agent is %s", name)
	}
	stopAgent := s.startAgent(c)
	s.provision()

	h := s.place("n1", "k", resource.HoldFenced)
	if r := h.Status.Receipt; r == nil || r.HoldID != h.Metadata.Name || r.Reads < 2 {
		t.Errorf("the receipt is %+v", r)
	}
	s.stopHub()
	s.staysOff(0)
	s.refused(0)

	// Both were down at once; the agent comes first and knows all it needs.
	stopAgent()
	stopAgent = s.startAgent(c)
	s.staysOff(0)
	s.startHub()
	s.untilHold(h.Metadata.Name, resource.HoldFenced)
	s.release(h.Metadata.Name)
	s.untilServer("n1", "the disk boot after the release", diskBoot)

	// The network between them is cut by stopping the broker; a claim on the other
	// server is made by label meanwhile, and is done when they meet again.
	stopAgent()
	second := s.claim("")
	second.Metadata.Name, second.Spec.ServerRef = "by-label", nil
	second.Spec.ServerSelector = &resource.Selector{MatchLabels: map[string]string{"role": "node"}}
	s.apply(second)
	s.startAgent(c)
	s.untilServer("n2", "the disk boot of the labelled claim", diskBoot)

	if _, err := s.client.Objects.Delete(t.Context(), resource.KindClaim, "c-n1"); err != nil {
		t.Fatal(err)
	}
	s.until("the end of the claim", func() bool { _, ok := get[*resource.Claim](s, "c-n1"); return !ok }, func() any { return "a claim" })
	s.staysOff(0)
	s.installedOnce()
	if list, err := s.client.Objects.List(t.Context(), resource.KindBootConfiguration); err != nil || len(list) != 1 {
		t.Errorf("%d boot configurations are left, %v; want the other claim's", len(list), err)
	}
}

func (s *site) reach(i int, r bmcsim.Reach) {
	s.t.Helper()
	if err := s.servers[i].BMC.SetReach(r); err != nil {
		s.t.Fatal(err)
	}
}

// TestHubNeverReachable: an agent with its disk and no hub holds and refuses boots. A
// first boot that was granted waits until the hub is heard, because the disk may be
// an old copy; then it is completed.
func TestHubNeverReachable(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	stop := s.startAgent(c)
	s.provision()
	s.place("n1", "k", resource.HoldFenced)
	// n2's BMC is away, so that the grant and the boot files come, and nothing begins.
	s.reach(1, bmcsim.ReachRefused)
	s.apply(s.claim("n2"))
	s.untilServer("n2", "grant and boot files at the agent", func(v *resource.Server) bool { return v.Status.Report.ArtefactsLocal })
	s.stopHub()
	stop()
	s.reach(1, bmcsim.ReachOK)

	// While the agent is away too, somebody switches n1 on.
	s.servers[0].BMC.ExternalOn()
	s.startAgent(c)
	s.until("n1 forced off again", func() bool { return s.servers[0].BMC.PowerState() == protocol.PowerOff }, func() any { return s.servers[0].BMC.PowerState() })
	s.staysOff(0)
	s.refused(0)
	s.staysOff(1)
	s.startHub()
	s.until("n2 installed and booted from its disk", func() bool {
		network, disk, _, installs := s.servers[1].Boots.Counts()
		return network == 1 && disk == 1 && installs == 1 && s.servers[1].BMC.PowerState() == protocol.PowerOn
	}, func() any { return s.servers[1].BMC.PowerState() })
	s.installedOnce()
}
