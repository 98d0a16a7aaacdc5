package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	agentdaemon "rackboot/agent/daemon"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestReplaceAgent: a rack has one agent. A second one is refused with a hint; when
// the first is deleted it may join, gets everything with a higher term, and
// believes what the first one signed. The first one, still running, starts nothing
// and keeps its holds.
func TestReplaceAgent(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	s.startAgent(c)
	s.provision()
	s.refused(0)
	h := s.place("n2", "k", resource.HoldFenced)

	_, err := s.client.Agents.NewToken(t.Context(), rackName, api.TokenRequest{})
	if protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(protocol.HintOf(err), "rackctl rack replace-agent r1") {
		t.Fatalf("a token for a rack that is served: %v, hint %q", err, protocol.HintOf(err))
	}
	if _, err := s.client.Objects.Delete(t.Context(), resource.KindAgent, "r1-1"); err != nil {
		t.Fatal(err)
	}
	ports := freePorts(t, 2)
	c2 := s.agentConfig("agent2", ports[0], ports[1])
	s.until("the free rack", func() bool {
		_, err := s.client.Agents.NewToken(t.Context(), rackName, api.TokenRequest{})
		return err == nil
	}, func() any { return "a taken rack" })
	if name := s.join(c2); name != "r1-2" {
		t.Errorf("the second agent is %s", name)
	}
	s.startAgent(c2)
	s.untilHold(h.Metadata.Name, resource.HoldFenced)
	s.untilServer("n1", "the disk boot as the new agent sees it", func(v *resource.Server) bool {
		return v.Status.Report.Observation.Power == protocol.PowerOn && v.Status.Report.OwnerUID != "" && !has(v.Status.Conditions, resource.CondServerOn)
	})
	// The old agent hears of it at its next report.
	s.until("the old agent to stop answering boots", func() bool { return s.silent(0) }, func() any { return "an answer" })
	// Held by both. Whoever switches n2 on, both force it off; the old one never
	// starts n1, even though its claim wants it to run.
	s.servers[1].BMC.ExternalOn()
	s.until("n2 forced off", func() bool { return s.servers[1].BMC.PowerState() == protocol.PowerOff }, func() any { return "on" })
	s.reboot("n1")
	s.installedOnce()
}

// TestJoinAnewWithOldDisk: the same host joins again with its disk. It takes the
// documents of its new name although the ledger of that name is new.
func TestJoinAnewWithOldDisk(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	stop := s.startAgent(c)
	s.provision()
	for _, key := range []string{"a", "b"} { // some versions
		s.release(s.place("n1", key, resource.HoldFenced).Metadata.Name)
	}
	h := s.place("n1", "kept", resource.HoldFenced)
	stop()
	if _, err := s.client.Objects.Delete(t.Context(), resource.KindAgent, "r1-1"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(c.DataDir, "identity", "agent.json")); err != nil {
		t.Fatal(err)
	}
	s.until("the free rack", func() bool {
		_, err := s.client.Agents.NewToken(t.Context(), rackName, api.TokenRequest{})
		return err == nil
	}, func() any { return "a taken rack" })
	s.join(c)
	s.startAgent(c)
	s.untilHold(h.Metadata.Name, resource.HoldFenced)
	s.release(h.Metadata.Name)
	s.untilServer("n1", "the disk boot after the release", diskBoot)
	s.installedOnce()
}

// TestTokenOnce: a token serves once, whoever has it.
func TestTokenOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.startHub()
	s.apply(s.manifests()...)
	token, err := s.client.Agents.NewToken(t.Context(), rackName, api.TokenRequest{})
	if err != nil {
		t.Fatal(err)
	}
	join := func(dir string) error {
		_, err := agentdaemon.Join(t.Context(), s.agentConfig(dir, "127.0.0.1:1", "127.0.0.1:1"), "https://"+s.hub.API, token.Token, s.ca())
		return err
	}
	done := make(chan error, 2)
	for _, dir := range []string{"one", "two"} {
		go func() { done <- join(dir) }()
	}
	var failed []error
	for range 2 {
		if err := <-done; err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) != 1 || protocol.CodeOf(failed[0]) != protocol.CodeDenied || !strings.Contains(protocol.HintOf(failed[0]), "join-token") {
		t.Errorf("two joins with one token ended with %v", failed)
	}
	if err := join("three"); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("a third join ended with %v", err)
	}
}

// reboot asks for a reboot and waits for its outcome.
func (s *site) reboot(server string) {
	s.t.Helper()
	r, err := s.client.Requests.Reboot(s.t.Context(), server, api.RebootRequest{Mode: resource.StopHard})
	if err != nil {
		s.t.Fatal(err)
	}
	s.until("the reboot", func() bool {
		q, err := s.client.Requests.Get(s.t.Context(), r.ID)
		r = q
		return err == nil && q.Report.Outcome == resource.OutcomeDone
	}, func() any { return r.Report })
}
