package site

import (
	"strings"
	"sync"
	"testing"

	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestGroupOffline: what an agent was given of a group is booted without hub and registry.
// An agent that starts without its hub goes on with what was booted, and lets a first boot
// wait for the hub: its disk may be an old copy.
func TestGroupOffline(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3)
	g := nodes()
	c, stopAgent := s.groups(s.entry("1.0"), manages(resource.OptInAll), g)
	s.apply(s.member("n1", g))
	s.installedIs(0, "1.0")
	s.untilStamp("os-1-0", "n1")
	s.reach(1, bmcsim.ReachRefused)
	s.reach(2, bmcsim.ReachRefused)
	s.apply(s.member("n2", g), s.member("n3", g))
	for _, name := range []string{"n2", "n3"} {
		s.untilServer(name, "grant and boot files at the agent", func(v *resource.Server) bool { return v.Status.Report.ArtefactsLocal })
	}
	s.stopHub()
	if err := s.reg.Close(); err != nil {
		t.Fatal(err)
	}
	s.reach(1, bmcsim.ReachOK)
	ran := func(i int) func() bool {
		return func() bool {
			network, disk, _, installs := s.servers[i].Boots.Counts()
			return network == 1 && disk == 1 && installs == 1 && s.servers[i].BMC.PowerState() == protocol.PowerOn
		}
	}
	s.until("n2 installed without the hub", ran(1), func() any { return s.servers[1].BMC.History() })

	stopAgent()
	s.reach(2, bmcsim.ReachOK)
	s.startAgent(c)
	s.staysOff(2)
	if !ran(0)() || !ran(1)() {
		t.Errorf("what ran was touched: %+v, %+v", s.servers[0].BMC.History(), s.servers[1].BMC.History())
	}
	s.startHub()
	s.until("n3 installed", ran(2), func() any { return s.servers[2].BMC.History() })
	for i := range s.servers {
		s.installedIs(i, "1.0")
	}
	s.untilGroup("nodes", "all servers", func(st resource.ServerGroupStatus) bool { return st.Counts != nil && st.Counts.Current == 3 })
}

// TestGroupFallback: a new image does not come up at its next power-on, and the hub is
// away. The agent boots the one before, the hub that comes back is told, and the group says
// so until it has another revision.
func TestGroupFallback(t *testing.T) {
	t.Parallel()
	_, bad := osOf("2.0")
	away := make(chan struct{})
	var s *site
	s = newSiteOf(t, 1, func(c *sim.ServerConfig) {
		c.Live = func() protocol.ProbeReport {
			if s.servers[0].Boots.Digest() != bad {
				return protocol.ProbeReport{State: protocol.ProbeBooted}
			}
			<-away
			return protocol.ProbeReport{State: protocol.ProbeFailed, Message: "no root file system"}
		}
	})
	left := sync.OnceFunc(func() { close(away) })
	t.Cleanup(left)
	g := nodes(network, func(g *resource.ServerGroup) { g.Spec.Rollout.FallbackAfter = 1 })
	c, stopAgent := s.groups(s.entry("1.0"), manages(resource.OptInAll), g)
	s.apply(s.member("n1", g))
	runs := func(number int) func(*resource.Server) bool {
		return func(v *resource.Server) bool {
			a := v.Status.Report.Attempt
			return a != nil && a.State == resource.AttemptSucceeded && v.Status.Report.Observation.Power == protocol.PowerOn && s.configured(number)
		}
	}
	s.untilServer("n1", "the first image", runs(1))
	s.untilGroup("nodes", "the first revision", verified(1))

	s.apply(s.entry("2.0"))
	s.untilGroup("nodes", "the second revision", revision(2))
	s.until("the next configuration", func() bool { return s.configured(2) }, func() any { return "the first" })
	if n, _, _, _ := s.servers[0].Boots.Counts(); n != 1 {
		t.Errorf("%d network boots: a running server was touched", n)
	}
	if _, err := s.client.Requests.Reboot(t.Context(), "n1", api.RebootRequest{Mode: resource.StopHard}); err != nil {
		t.Fatal(err)
	}
	s.until("the boot of the second image", func() bool { return s.servers[0].Boots.Digest() == bad }, func() any { return s.servers[0].BMC.History() })
	s.stopHub()
	left()
	_, good := osOf("1.0")
	s.until("the first image again", func() bool {
		n, _, _, _ := s.servers[0].Boots.Counts()
		return n == 3 && s.servers[0].Boots.Digest() == good && s.servers[0].BMC.PowerState() == protocol.PowerOn
	}, func() any { return s.servers[0].BMC.History() })

	stopAgent()
	s.startAgent(c)
	s.startHub()
	s.untilServer("n1", "the fallback", func(v *resource.Server) bool {
		f := v.Status.Report.Fallback
		return f != nil && f.Failed == 1 && f.Since != nil && strings.Contains(f.Reason, "no root file system") && has(v.Status.Conditions, resource.CondFellBack)
	})
	if n, _, _, _ := s.servers[0].Boots.Counts(); n != 3 {
		t.Errorf("%d network boots: what runs was touched", n)
	}
	st := s.untilGroup("nodes", "the word of the fallback", func(st resource.ServerGroupStatus) bool {
		return tells(st.Conditions, resource.CondImagesDegraded, "n1: "+string(resource.CondFellBack)) && st.Counts != nil && st.Counts.Older == 1
	})
	if st.Verified != 1 {
		t.Errorf("%+v", st)
	}

	// Another image that comes up ends it.
	s.apply(s.entry("3.0"))
	s.untilGroup("nodes", "the third revision", revision(3))
	s.untilServer("n1", "the end of the fallback", func(v *resource.Server) bool { return s.configured(3) && v.Status.Report.Fallback == nil })
	s.reboot("n1")
	_, better := osOf("3.0")
	s.until("the third image", func() bool { return s.servers[0].Boots.Digest() == better }, func() any { return s.servers[0].BMC.History() })
	s.untilGroup("nodes", "the verified third", func(st resource.ServerGroupStatus) bool {
		return verified(3)(st) && !has(st.Conditions, resource.CondImagesDegraded)
	})
}

// configured says whether the claim of n1 has its configuration of a group's revision.
func (s *site) configured(revision int) bool {
	s.t.Helper()
	b, ok := get[*resource.BootConfiguration](s, "c-n1")
	return ok && b.Spec.Revision == revision
}
