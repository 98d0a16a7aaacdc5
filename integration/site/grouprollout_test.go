package site

import (
	"strings"
	"testing"

	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestRolloutReboot: a new image reaches the servers that run wave by wave. The canary is
// rebooted first, and the rest when it has stayed up; nobody else asks for a reboot.
func TestRolloutReboot(t *testing.T) {
	t.Parallel()
	s := newSiteOf(t, 2, func(c *sim.ServerConfig) {
		c.Live = func() protocol.ProbeReport { return protocol.ProbeReport{State: protocol.ProbeBooted} }
	})
	g := nodes(network, starred, func(g *resource.ServerGroup) { g.Spec.Rollout.Strategy = resource.RolloutReboot })
	s.groups(append(s.labelled("node*", "node"), s.entry("1.0"), manages(resource.OptInAll), g)...)
	s.apply(s.member("n1", g), s.member("n2", g))
	both := func(number int, version string) {
		t.Helper()
		st := s.untilGroup("nodes", "the end of the roll-out of "+version, func(st resource.ServerGroupStatus) bool {
			return verified(number)(st) && st.Rollout != nil && st.Rollout.Revision == number && st.Rollout.Phase == resource.RolloutCompleted
		})
		if st.Rollout.Strategy != resource.RolloutReboot {
			t.Errorf("%+v", st.Rollout)
		}
		_, digest := osOf(version)
		for i := range s.servers {
			if n, disk, _, _ := s.servers[i].Boots.Counts(); n != number || disk != 0 || s.servers[i].Boots.Digest() != digest {
				t.Errorf("%s: %d network boots, %d disk boots, the last of %s; version %s is %s", s.servers[i].Name, n, disk, s.servers[i].Boots.Digest(), version, digest)
			}
		}
	}
	for _, sv := range s.servers {
		s.untilServer(sv.Name, "the first image", func(v *resource.Server) bool {
			a := v.Status.Report.Attempt
			return a != nil && a.State == resource.AttemptSucceeded && v.Status.Report.Observation.Power == protocol.PowerOn
		})
	}
	both(1, "1.0")
	s.apply(s.entry("2.0"))
	_, next := osOf("2.0")
	s.until("the reboot of the canary", func() bool { return s.servers[0].Boots.Digest() == next }, func() any { return s.servers[0].BMC.History() })
	both(2, "2.0")
	st := s.untilGroup("nodes", "its members", func(st resource.ServerGroupStatus) bool { return len(st.Rollout.Members) == 2 })
	canary, second := st.Rollout.Members["n1"], st.Rollout.Members["n2"]
	if canary.Wave != 0 || second.Wave != 1 || canary.BegunAt == nil || second.BegunAt == nil || second.BegunAt.Before(*canary.BegunAt) {
		t.Errorf("%+v, %+v", canary, second)
	}
	s.untilStamp("os-2-0", "n1")
}

// TestRolloutHearsOfFailures: that an image says of itself that it failed, and that the agent
// returned to the one before, is the roll-out's failure at once, with the image's words. The
// deadline is an hour, for which this test does not wait.
func TestRolloutHearsOfFailures(t *testing.T) {
	t.Parallel()
	for name, fallback := range map[string]int{"reported": 0, "fell back": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, bad := osOf("2.0")
			var s *site
			s = newSiteOf(t, 1, func(c *sim.ServerConfig) {
				c.Live = func() protocol.ProbeReport {
					if s.servers[0].Boots.Digest() == bad {
						return protocol.ProbeReport{State: protocol.ProbeFailed, Message: "no root file system"}
					}
					return protocol.ProbeReport{State: protocol.ProbeBooted}
				}
			})
			g := nodes(network, func(g *resource.ServerGroup) {
				g.Spec.Rollout.Strategy, g.Spec.Rollout.FallbackAfter = resource.RolloutReboot, fallback
			})
			s.groups(s.entry("1.0"), manages(resource.OptInAll), g)
			s.apply(s.member("n1", g))
			s.untilGroup("nodes", "the first revision", func(st resource.ServerGroupStatus) bool {
				return verified(1)(st) && st.Rollout != nil && st.Rollout.Phase == resource.RolloutCompleted
			})
			s.apply(s.entry("2.0"))
			st := s.untilGroup("nodes", "the failure", func(st resource.ServerGroupStatus) bool {
				return st.Rollout != nil && st.Rollout.Revision == 2 && st.Rollout.Phase == resource.RolloutPaused
			})
			if m := st.Rollout.Members["n1"]; m.State != resource.MemberFailed || !strings.Contains(m.Reason, "no root file system") || !strings.Contains(st.Rollout.Reason, "no root file system") {
				t.Errorf("%+v, %q", m, st.Rollout.Reason)
			}
		})
	}
}
