package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	agentdaemon "rackboot/agent/daemon"
	"rackboot/agent/local"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// standsBy says whether an agent says of itself that it stands by.
func (s *site) standsBy(c agentdaemon.Config) bool {
	st, err := local.NewClient(c.LocalSocket().Path).Status(s.t.Context())
	return err == nil && st.Standby
}

// failover asks for a failover; off states that the first host is off.
func (s *site) failover(off bool) error {
	_, err := s.client.Agents.Failover(s.t.Context(), rackName, api.FailoverRequest{Reason: "the first host burns", FirstHostOff: off})
	return err
}

// asked is how often a server's BMC was asked.
func (s *site) asked(i int) int { return len(s.servers[i].BMC.Requests()) }

// TestStandby: a second agent stands by, hears the first one's heartbeats, and touches no BMC, without its database neither;
// nothing makes it serve while that one lives, or while it could not record it. It takes over by somebody's statement, guards
// what is held, and switches nothing on that the first one may hold until that one's disk was read. That one comes back
// twice and orders nothing.
func TestStandby(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3)
	s.startHub()
	s.apply(s.manifests()...)
	ports := freePorts(t, 4)
	c, z := s.firstAgent(), s.agentConfig("standby", ports[0], ports[1])
	c.Segments[0].Heartbeat = &agentdaemon.Heartbeat{Listen: ports[2], Peer: ports[3]}
	z.Segments[0].Heartbeat = &agentdaemon.Heartbeat{Listen: ports[3], Peer: ports[2]}
	s.join(c)
	stop := s.startAgent(c)
	token, err := s.client.Agents.NewToken(t.Context(), rackName, api.TokenRequest{Standby: true})
	if err != nil {
		t.Fatal(err)
	}
	if name, err := agentdaemon.Join(t.Context(), z, "https://"+s.hub.API, token.Token, nil); err != nil || name != "r1-2" {
		t.Fatalf("joined as %q, %v", name, err)
	}
	stopZ := s.startAgent(z)
	h := s.place("n2", "k", resource.HoldFenced)
	s.until("the standby in step", func() bool {
		st, err := local.NewClient(z.LocalSocket().Path).Status(t.Context())
		return err == nil && st.Standby && st.Holds == 1
	}, func() any { return "not in step" })
	if err := s.failover(false); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(protocol.HintOf(err), "--first-host-off") {
		t.Errorf("while the first one lives: %v", err)
	}

	// Its database is damaged, and the server that it would guard comes on.
	stopZ()
	if err := os.Truncate(filepath.Join(z.DataDir, "state", "MANIFEST"), 5); err != nil {
		t.Fatal(err)
	}
	stopZ = s.startAgent(z)
	s.agentHas("r1-2", resource.CondGuardMode)
	s.servers[1].BMC.ExternalOn()
	s.until("n2 forced off by the first", func() bool { return s.servers[1].BMC.PowerState() == protocol.PowerOff }, func() any { return "on" })
	s.stopHub() // which hears nothing of the next hold
	if _, err := local.NewClient(c.LocalSocket().Path).Place(t.Context(), "n3", api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "hands-in-it", Mode: resource.StopHard}}); err != nil {
		t.Fatal(err)
	}
	stop()
	s.startHub()
	asked := s.asked(1)
	s.servers[1].BMC.ExternalOn()
	s.agentHas("r1-2", resource.CondGuardMode)
	s.until("that the standby is in guard mode", func() bool {
		err := s.failover(true)
		return protocol.CodeOf(err) == protocol.CodeConflict && strings.Contains(err.Error(), "guard mode")
	}, func() any { return s.failover(true) })
	if err := agentdaemon.AcceptLoss(z, "ann", "its disk was replaced"); err != nil {
		t.Fatal(err)
	}
	s.until("the standby in step again", func() bool {
		st, err := local.NewClient(z.LocalSocket().Path).Status(t.Context())
		return err == nil && st.Standby && st.Guard == nil && st.Synced == false && len(st.Applied) > 1
	}, func() any { return "not in step" })
	if n := s.asked(1) - asked; n != 0 || s.servers[1].BMC.PowerState() != protocol.PowerOn {
		t.Errorf("the standby has asked the BMC %d times; the server is %s", n, s.servers[1].BMC.PowerState())
	}
	s.until("that it needs a statement", func() bool {
		err := s.failover(false)
		return protocol.CodeOf(err) == protocol.CodeConflict && strings.Contains(protocol.HintOf(err), "--first-host-off")
	}, func() any { return s.failover(false) })
	if err := s.failover(true); err != nil {
		t.Fatal(err)
	}
	s.until("n2 forced off by the second", func() bool { return s.servers[1].BMC.PowerState() == protocol.PowerOff }, func() any { return "on" })
	s.untilHold(h.Metadata.Name, resource.HoldFenced)
	if s.standsBy(z) {
		t.Error("it says that it stands by")
	}
	s.apply(s.claim("n3"))
	s.untilServer("n3", "that nothing is switched on", func(v *resource.Server) bool { return has(v.Status.Conditions, resource.CondTakenOver) })

	// The first one comes back.
	forced := s.forcedOff(0) + s.forcedOff(2)
	for range 2 {
		stop = s.startAgent(c)
		s.until("the end of its term", func() bool { return s.local(c, resource.CondSuperseded) }, func() any { return "none" })
		stop()
	}
	if n := s.forcedOff(0) + s.forcedOff(2) - forced; n != 0 {
		t.Errorf("it has forced off %d servers", n)
	}
	holds := filepath.Join(t.TempDir(), "r1-1.holds")
	m, err := agentdaemon.WriteLocalHolds(c, holds)
	if err != nil || len(m.Holds) != 1 {
		t.Fatalf("on its disk: %+v, %v", m, err)
	}
	sealed, err := os.ReadFile(holds)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.client.Agents.Settle(t.Context(), rackName, api.SettleRequest{Holds: sealed})
	if err != nil || len(out.Adopted) != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	s.untilHold(out.Adopted[0], resource.HoldFenced)
	s.untilServer("n3", "the end of the failover", func(v *resource.Server) bool { return !has(v.Status.Conditions, resource.CondTakenOver) })
	s.staysOff(2)
	stopZ()
}
