package site

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	agentdaemon "rackboot/agent/daemon"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// agentOfCopy is the configuration of an agent on a copy of another one's folder, which must not be in use.
func (s *site) agentOfCopy(c agentdaemon.Config, name string) agentdaemon.Config {
	s.t.Helper()
	ports := freePorts(s.t, 2)
	z := s.agentConfig(name, ports[0], ports[1])
	err := filepath.WalkDir(c.DataDir, func(path string, d os.DirEntry, err error) error {
		to := filepath.Join(z.DataDir, strings.TrimPrefix(path, c.DataDir))
		if err != nil || d.Type()&^os.ModeDir != 0 { // no socket
			return err
		}
		in, err := d.Info()
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(to, in.Mode().Perm())
		}
		raw, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(to, raw, in.Mode().Perm()))
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return z
}

// TestTwoAgentsOfOneDisk: a second agent starts on a copy of the first one's folder, while a server is in its
// first boot and another one is held. Both stand aside: the first boot is let be, the held server is forced
// off whoever switches it on, and so is one that is held now, which is not Fenced. Then somebody says which
// goes on, while the hub and the chosen one are started again; the other one is over, also after a restart.
func TestTwoAgentsOfOneDisk(t *testing.T) {
	t.Parallel()
	s := newSiteOf(t, 3, func(c *sim.ServerConfig) {
		if c.Name == "n1" {
			c.Install = 6 * time.Second
		}
	})
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	stop := s.startAgent(c)
	s.untilServer("n1", "a read", func(v *resource.Server) bool { return v.Status.Report.Observation.Power == protocol.PowerOff })
	stop()
	z := s.agentOfCopy(c, "twin")
	stop = s.startAgent(c)
	h := s.place("n2", "k", resource.HoldFenced)
	s.apply(s.claim("n1"))
	s.untilServer("n1", "the first boot", func(v *resource.Server) bool {
		return v.Status.Report.Attempt != nil && v.Status.Report.Attempt.State == resource.AttemptFetched
	})

	began := time.Now()
	stopTwin := s.startAgent(z)
	aside := func() bool { return s.local(c, resource.CondAgentCopied) && s.local(z, resource.CondAgentCopied) }
	s.until("both to stand aside", aside, func() any { return "one that does not" })
	t.Logf("both stand aside after %s", time.Since(began))
	s.agentHas("r1-1", resource.CondAgentCopied)
	if got, _ := get[*resource.Hold](s, h.Metadata.Name); got.Status.Word == resource.HoldFenced {
		t.Errorf("the hold is %+v", got.Status)
	}
	if !s.silent(0) {
		t.Error("firmware is answered")
	}
	s.servers[1].BMC.ExternalOn()
	s.until("n2 forced off", func() bool { return s.servers[1].BMC.PowerState() == protocol.PowerOff }, func() any { return "on" })
	s.servers[2].BMC.ExternalOn()
	late, err := s.client.Holds.Create(t.Context(), "n3", api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "late", Mode: resource.StopHard}})
	if err != nil {
		t.Fatal(err)
	}
	s.until("n3 forced off", func() bool { return s.servers[2].BMC.PowerState() == protocol.PowerOff }, func() any { return "on" })
	if got, _ := get[*resource.Hold](s, late.Metadata.Name); got.Status.Word == resource.HoldFenced {
		t.Errorf("the new hold is %+v", got.Status)
	}
	s.until("the installation", func() bool { _, _, _, installs := s.servers[0].Boots.Counts(); return installs == 1 }, func() any { return "none" })
	if n := s.forcedOff(0); n != 0 {
		t.Errorf("the server in its first boot was forced off %d times", n)
	}
	var runs []resource.AgentRun
	s.untilAgent("r1-1", "both runs", func(a *resource.Agent) bool {
		runs = a.Status.Runs
		return len(runs) == 2 && runs[0].Self != "" && runs[1].Self != ""
	})

	// The first agent is the one that was heard first.
	first := runs[0]
	if runs[1].First.Before(first.First) {
		first = runs[1]
	}
	stop()
	s.stopHub()
	s.startHub()
	if _, err := s.client.Agents.Keep(t.Context(), rackName, api.KeepRequest{Run: first.Run, Reason: "the other is a copy"}); err != nil {
		t.Fatal(err)
	}
	stop = s.startAgent(c)
	s.until("the twin's end", func() bool { return s.local(z, resource.CondSuperseded) }, func() any { return "none" })
	s.until("the first agent to go on", func() bool { return !s.local(c, resource.CondAgentCopied) }, func() any { return "aside" })
	s.untilAgent("r1-1", "one agent", func(a *resource.Agent) bool { return !has(a.Status.Conditions, resource.CondAgentCopied) })
	s.untilHold(h.Metadata.Name, resource.HoldFenced)
	s.untilHold(late.Metadata.Name, resource.HoldFenced)
	s.untilServer("n1", "the disk boot after the installation", diskBoot)
	stopTwin()
	s.startAgent(z)
	if !s.local(z, resource.CondSuperseded) {
		t.Error("the other one does not know that it is over")
	}
	s.release(h.Metadata.Name)
	s.release(late.Metadata.Name)
	s.servers[1].BMC.ExternalOn()
	s.until("n2 let be", func() bool { return s.servers[1].BMC.PowerState() == protocol.PowerOn }, func() any { return "off" })
	n := s.forcedOff(1)
	stop()
	stop = s.startAgent(c)
	s.untilServer("n2", "a read", func(v *resource.Server) bool { return v.Status.Report.Observation.Power == protocol.PowerOn })
	if s.forcedOff(1) != n {
		t.Error("the other one forces off what was released")
	}
	s.installedOnce()
}
