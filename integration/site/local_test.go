package site

import (
	"strings"
	"testing"

	agentdaemon "rackboot/agent/daemon"
	"rackboot/agent/local"
	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// desk calls the agent over its socket.
func desk(c agentdaemon.Config) *local.Client { return local.NewClient(c.LocalSocket().Path) }

// untilLocal waits for the agent's holds.
func (s *site) untilLocal(c *local.Client, what string, ok func([]local.Hold) bool) {
	s.t.Helper()
	var last []local.Hold
	s.until(what, func() bool {
		all, err := c.Holds(s.t.Context())
		last = all
		return err == nil && ok(all)
	}, func() any { return last })
}

// forcedOff counts how often we have forced a server off.
func (s *site) forcedOff(i int) (n int) {
	for _, h := range s.servers[i].BMC.History() {
		if h.What == bmcsim.RecordReset && h.Detail == "ForceOff" {
			n++
		}
	}
	return n
}

// TestLocalHoldIsAdopted: with the hub away a server is held at its agent, and stays
// so over a restart. The hub that comes back takes the hold over, with its id and
// owner, and its release counts.
func TestLocalHoldIsAdopted(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	s.startHub()
	s.apply(s.manifests()...)
	cfg := s.firstAgent()
	s.join(cfg)
	stop := s.startAgent(cfg)
	s.provision()
	s.stopHub()

	c := desk(cfg)
	h, err := c.Place(t.Context(), "n1", api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "smoke", Mode: resource.StopHard, Reason: "smoke in row 7", Ref: "call 17"}})
	if err != nil {
		t.Fatal(err)
	}
	fenced := func(all []local.Hold) bool {
		return len(all) == 1 && all[0].ID == h.ID && all[0].Word == resource.HoldFenced && all[0].Local
	}
	s.untilLocal(c, "the local hold's receipt", fenced)
	s.staysOff(0)
	s.refused(0)
	stop()
	s.startAgent(cfg)
	s.untilLocal(c, "the held server after the restart", fenced)
	s.staysOff(0)

	s.startHub()
	v := s.untilHold(h.ID, resource.HoldFenced)
	if v.Spec.Owner != h.Owner || !strings.HasPrefix(v.Spec.Owner, local.OwnerPrefix) || v.Spec.Key != "smoke" || v.Spec.Reason != h.Reason || v.Spec.Ref != h.Ref || v.Status.Receipt == nil {
		t.Errorf("%+v", v)
	}
	s.untilLocal(c, "the hub's hold", func(all []local.Hold) bool { return len(all) == 1 && !all[0].Local && !all[0].Missing })
	if _, err := s.client.Holds.Release(t.Context(), h.ID, api.ReleaseRequest{}); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("a release of somebody else's hold: %v", err)
	}
	if _, err := s.client.Holds.Release(t.Context(), h.ID, api.ReleaseRequest{BreakGlass: "the fire is out"}); err != nil {
		t.Fatal(err)
	}
	s.untilServer("n1", "the disk boot after the release", func(v *resource.Server) bool { return diskBoot(v) && len(v.Status.Report.Holds) == 0 })
	s.installedOnce()
}

// TestLocalBreakGlass: with the hub away the hub's hold is released at the agent. The
// server runs; the hub that comes back with the hold does not stop it again, and
// records who released it and why.
func TestLocalBreakGlass(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	s.startHub()
	s.apply(s.manifests()...)
	cfg := s.firstAgent()
	s.join(cfg)
	stop := s.startAgent(cfg)
	s.provision()
	id := s.place("n1", "k", resource.HoldFenced).Metadata.Name
	s.stopHub()

	c := desk(cfg)
	if _, err := c.Release(t.Context(), id, api.ReleaseRequest{}); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("without a reason: %v", err)
	}
	if _, err := c.Release(t.Context(), id, api.ReleaseRequest{BreakGlass: "hub is lost"}); err != nil {
		t.Fatal(err)
	}
	s.until("the server to run", func() bool { return s.servers[0].BMC.PowerState() == protocol.PowerOn }, func() any { return s.servers[0].BMC.History() })
	forced := s.forcedOff(0)
	stop()
	s.startHub() // it knows the hold, and nothing of its end
	if v, ok := get[*resource.Hold](s, id); !ok || v.Status.ReleasedAt != nil {
		t.Errorf("the hub's hold before it has heard: %+v", v)
	}
	s.startAgent(cfg)
	s.until("the release at the hub", func() bool { _, ok := get[*resource.Hold](s, id); return !ok }, func() any { return "a hold" })
	s.untilLocal(c, "a document without the hold", func(all []local.Hold) bool { return len(all) == 0 })
	s.untilServer("n1", "the disk boot", func(v *resource.Server) bool { return diskBoot(v) && len(v.Status.Report.Holds) == 0 })
	if n := s.forcedOff(0); n != forced {
		t.Errorf("forced off %d times after the release", n-forced)
	}
	s.untilEvent("who and why", func(e api.EventRecord) bool {
		return e.Server == "n1" && strings.Contains(e.Message, id) && strings.Contains(e.Message, "hub is lost") && strings.Contains(e.Message, local.OwnerPrefix)
	})
}
