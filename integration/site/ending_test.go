package site

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	agentdaemon "rackboot/agent/daemon"
	"rackboot/agent/local"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// local says whether the agent itself shows a condition.
func (s *site) local(c agentdaemon.Config, code resource.ConditionCode) bool {
	st, err := local.NewClient(c.LocalSocket().Path).Status(s.t.Context())
	return err == nil && slices.ContainsFunc(st.Conditions, func(x local.Condition) bool { return x.Code == code })
}

// TestRevokedAgent: its connection is cut and it does not come back, also after the hub
// and it were started again; it learns why over the API, and orders nothing. What it
// held is taken over by the next agent.
func TestRevokedAgent(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	stop := s.startAgent(c)
	h := s.place("n1", "k", resource.HoldFenced)
	stop() // it does not hear the word over the link
	out, err := s.client.Agents.Revoke(t.Context(), "r1-1", api.EndRequest{Reason: "disk copied"})
	if err != nil || out.Code != resource.CondRevoked {
		t.Fatalf("%+v, %v", out, err)
	}
	for range 2 {
		stop = s.startAgent(c)
		s.until("the word", func() bool { return s.local(c, resource.CondRevoked) }, func() any { return "none" })
		if s.dialsBroker(c) == nil {
			t.Error("the broker takes its certificate")
		}
		s.agentHas("r1-1", resource.CondRevoked)
		stop()
		s.stopHub()
		s.startHub()
	}
	stop = s.startAgent(c) // what it does cannot be seen, but for the machine
	s.servers[0].BMC.ExternalOn()
	ports := freePorts(t, 2)
	c2 := s.agentConfig("agent2", ports[0], ports[1])
	if name := s.join(c2); name != "r1-2" {
		t.Errorf("the next agent is %s", name)
	}
	s.startAgent(c2)
	s.untilHold(h.Metadata.Name, resource.HoldFenced)
	s.staysOff(0)
	stop()
}

// dialsBroker connects to the broker by the agent's certificate, and says what became of
// it.
func (s *site) dialsBroker(c agentdaemon.Config) error {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(c.DataDir, "identity", "agent.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var id struct {
		Answer  api.JoinAnswer `json:"answer"`
		LinkKey []byte         `json:"linkKey"`
	}
	if err := json.Unmarshal(raw, &id); err != nil {
		s.t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(id.Answer.Certificate, id.LinkKey)
	if err != nil {
		s.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(id.Answer.CA)
	conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}}).DialContext(s.t.Context(), "tcp", s.hub.MQTT)
	if err != nil {
		return err
	}
	defer conn.Close()
	// MQTT 3.1.1 §3.1: CONNECT with a clean session and client id "x".
	if _, err := conn.Write([]byte{0x10, 13, 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 30, 0, 1, 'x'}); err != nil {
		return err
	}
	answer := make([]byte, 4)
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := conn.Read(answer); err != nil {
		return err
	}
	if answer[0] != 0x20 || answer[3] != 0 {
		return protocol.Errorf(protocol.CodeDenied, "connect", "CONNACK %x", answer)
	}
	return nil
}

// TestSupersededAgent: the agent before, still running, hears that its term is over. It
// stops answering boots, and orders no power at all: of a server that is held and goes
// on, the next agent alone takes care.
func TestSupersededAgent(t *testing.T) {
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
	out, err := s.client.Agents.Replace(t.Context(), rackName, api.EndRequest{Reason: "new host"})
	if err != nil || out.Agent != "r1-1" || out.Token == nil {
		t.Fatalf("%+v, %v", out, err)
	}
	s.until("the end of the term", func() bool { return s.local(c, resource.CondSuperseded) }, func() any { return "none" })
	s.until("the old agent to stop answering boots", func() bool { return s.silent(0) }, func() any { return "an answer" })
	forced := s.forcedOff(1)
	s.servers[1].BMC.ExternalOn()
	s.until("the server that was held to be on", func() bool { return s.servers[1].BMC.PowerState() == protocol.PowerOn }, func() any { return "off" })
	if n := s.forcedOff(1); n != forced {
		t.Errorf("forced off %d times by an agent whose term is over", n-forced)
	}
	ports := freePorts(t, 2)
	c2 := s.agentConfig("agent2", ports[0], ports[1])
	if _, err := agentdaemon.Join(t.Context(), c2, "https://"+s.hub.API, out.Token.Token, nil); err != nil {
		t.Fatal(err)
	}
	s.startAgent(c2)
	s.until("n2 forced off by the next agent", func() bool { return s.servers[1].BMC.PowerState() == protocol.PowerOff }, func() any { return "on" })
	s.untilHold(h.Metadata.Name, resource.HoldFenced)
	s.untilServer("n1", "the disk boot as the next agent sees it", func(v *resource.Server) bool {
		return v.Status.Report.Observation.Power == protocol.PowerOn && v.Status.Report.OwnerUID != "" && !has(v.Status.Conditions, resource.CondServerOn)
	})
	s.reboot("n1")
	s.installedOnce()
}

// TestJoinAsAttacker: a token of another hub sends nothing to this one, and a server in
// between that has no certificate of the token's gets nothing.
func TestJoinAsAttacker(t *testing.T) {
	t.Parallel()
	s, other := newSite(t, 0), newSite(t, 0)
	s.startHub()
	other.startHub()
	s.apply(s.manifests()...)
	token, err := s.client.Agents.NewToken(t.Context(), rackName, api.TokenRequest{})
	if err != nil {
		t.Fatal(err)
	}
	c := s.firstAgent()
	for name, join := range map[string]func() error{
		"at another hub": func() error {
			_, err := agentdaemon.Join(t.Context(), c, "https://"+other.hub.API, token.Token, nil)
			return err
		},
		"with another hub's CA": func() error {
			_, err := agentdaemon.Join(t.Context(), c, "https://"+s.hub.API, token.Token, other.ca())
			return err
		},
		"without anything that names the hub": func() error {
			secret, _ := api.SplitToken(token.Token)
			_, err := agentdaemon.Join(t.Context(), c, "https://"+s.hub.API, secret, nil)
			return err
		},
	} {
		if err := join(); err == nil || protocol.CodeOf(err) != protocol.CodeDenied && protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := agentdaemon.Join(t.Context(), c, "https://"+s.hub.API, token.Token, nil); err != nil {
		t.Errorf("the token was spent: %v", err)
	}
}
