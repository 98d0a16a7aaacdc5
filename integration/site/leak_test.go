package site

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	agentdaemon "rackboot/agent/daemon"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

const localCanary = "kanary-51d0-local"

// TestNothingLeaks is the demo's flow with everything that is secret known to the test:
// join, boot, report of the installation, hold, release, restart of both daemons, and
// what is refused on the way. No secret is in a log at any level, a metric, an answer,
// an error, an event, the audit log or a file, but where it belongs.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	spy := s.spy()
	c := s.firstAgent()
	c.Metrics = spy.agent
	s.secretConfig(spy, c)
	s.startHub()
	pki := filepath.Join(s.hub.DataDir, "pki")
	spy.knows("the admin's token", s.file(filepath.Join(pki, "admin.token")), filepath.Join(pki, "admin.token"))
	spy.knowsKey("the hub's authority", filepath.Join(pki, "ca.pem"))
	spy.knowsKey("the hub's signing key", filepath.Join(pki, "signing.pem"))
	spy.knowsKey("the hub's TLS key", filepath.Join(pki, "hub.pem"))

	objs := s.central()
	for _, o := range objs {
		if b, ok := o.(*resource.BMC); ok && b.Metadata.Name == "b-n2" {
			b.Spec.CredentialsRef = "local:bmc"
		}
	}
	s.apply(append(objs, account(firstCanary))...)
	s.joinSecretly(spy, c)
	stopAgent := s.startAgent(c)
	s.provision()
	s.apply(s.claim("n2"))
	s.untilServer("n2", "the disk boot after the installation", diskBoot)
	for i, sv := range s.servers {
		// An attempt's token is in the agent's database, which serves by it after a
		// restart, for as long as the attempt is the server's last.
		_, after, ok := strings.Cut(sv.Boots.LastURL(), "/b/")
		token, _, more := strings.Cut(after, "/")
		if !ok || !more {
			t.Fatalf("server %d was loaded from %q", i, sv.Boots.LastURL())
		}
		spy.knows("the boot token of "+sv.Name, []byte(token), filepath.Join(c.DataDir, "state"))
	}
	spy.look()

	ha := s.clientOf(s.file(s.hub.Clients[0].TokenFile))
	_, err := ha.Objects.Apply(t.Context(), []resource.Object{account(secondCanary)}, false)
	spy.heard("a secret of who may not", err)
	_, err = s.clientOf([]byte(localCanary + firstCanary)).Whoami(t.Context())
	spy.heard("another's token", err)
	h, err := ha.Holds.Create(t.Context(), "n1", api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard}})
	if err != nil {
		t.Fatal(err)
	}
	s.untilHold(h.Metadata.Name, resource.HoldFenced)
	spy.look()
	s.stopHub()
	stopAgent()
	stopAgent = s.startAgent(c)
	s.staysOff(0)
	s.startHub()
	s.untilHold(h.Metadata.Name, resource.HoldFenced)
	if _, err := ha.Holds.Release(t.Context(), h.Metadata.Name, api.ReleaseRequest{}); err != nil {
		t.Fatal(err)
	}
	s.untilServer("n1", "the disk boot after the release", diskBoot)

	// Both accounts are refused.
	s.password("another-password")
	for _, name := range []string{"n1", "n2"} {
		s.untilServer(name, "the refused account", func(v *resource.Server) bool { return has(v.Status.Conditions, resource.CondBMCDenied) })
	}
	for _, bmc := range []string{"b-n1", "b-n2"} {
		s.until("the refused account of "+bmc, func() bool {
			b, ok := get[*resource.BMC](s, bmc)
			return ok && has(b.Status.Conditions, resource.CondBMCDenied)
		}, func() any { return "it is not said" })
	}
	s.installedOnce()
	spy.look()
	stopAgent()
	s.stopHub()
	spy.clean()
	spy.databaseClean(c.DataDir, 1)
}

// secretConfig writes files with secrets for both daemons.
func (s *site) secretConfig(spy *spy, c agentdaemon.Config) {
	s.t.Helper()
	write := func(name, text string) string {
		path := filepath.Join(s.dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
		return path
	}
	random := func() []byte {
		raw := make([]byte, 32)
		rand.Read(raw)
		return raw
	}
	kek := random()
	s.hub.Secrets.KeyFile = write("kek", hex.EncodeToString(kek)+"\n")
	spy.knows("the key of the hub's secrets", kek, s.hub.Secrets.KeyFile)
	token := hex.EncodeToString(random())
	s.hub.Clients = []hubdaemon.Client{{Name: "ha", TokenFile: write("ha.token", token+"\n")}}
	spy.knows("a client's token", []byte(token), s.hub.Clients[0].TokenFile)
	path := write("credentials/bmc", "username: admin\npassword: "+localCanary+"\n")
	spy.knows("a password of the agent's host", []byte(localCanary), path)
	s.servers[0].BMC.SetCredentials("admin", firstCanary)
	s.servers[1].BMC.SetCredentials("admin", localCanary)
	if filepath.Dir(path) != c.CredentialsDir {
		s.t.Fatalf("the agent's credentials are in %s", c.CredentialsDir)
	}
}

// joinSecretly joins, tries the token again, and has the spy know it and the agent's keys.
func (s *site) joinSecretly(spy *spy, c agentdaemon.Config) {
	s.t.Helper()
	token, err := s.client.Agents.NewToken(s.t.Context(), rackName, api.TokenRequest{})
	if err != nil {
		s.t.Fatal(err)
	}
	spy.knows("the join token", []byte(token.Token))
	if _, err := agentdaemon.Join(s.t.Context(), c, "https://"+s.hub.API, token.Token, s.ca()); err != nil {
		s.t.Fatal(err)
	}
	again := c
	again.DataDir = filepath.Join(s.dir, "again")
	_, err = agentdaemon.Join(s.t.Context(), again, "https://"+s.hub.API, token.Token, s.ca())
	spy.heard("a token that was used", err)

	path := filepath.Join(c.DataDir, "identity", "agent.json")
	var id struct{ Key, LinkKey []byte }
	if err := json.Unmarshal(s.file(path), &id); err != nil {
		s.t.Fatal(err)
	}
	spy.knows("the agent's key", id.Key, path)
	block, _ := pem.Decode(id.LinkKey)
	if block == nil {
		s.t.Fatal("the agent has no key of its link")
	}
	spy.knowsDER("the key of the agent's link", block.Bytes, path)
	sealed := filepath.Join(c.DataDir, "identity", "seal.key")
	spy.knows("the agent's key for secrets", s.file(sealed), sealed)
}

func (s *site) file(path string) []byte {
	s.t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return raw
}

func (s *site) clientOf(token []byte) *api.Client {
	s.t.Helper()
	c, err := api.NewClient(api.Config{BaseURL: "https://" + s.hub.API, CA: s.ca(), Token: strings.TrimSpace(string(token))})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.CloseIdle)
	return c
}
