package site

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	agentdaemon "rackboot/agent/daemon"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// ignites is user data with a canary, as Butane.
func ignites(name string) *resource.Secret {
	v := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretIgnition, Data: resource.SecretData{
		resource.SecretUserData: resource.Plain("variant: fcos\nversion: 1.5.0\npasswd:\n  users:\n    - name: " + name + "\n"),
	}}}
	v.Metadata.Name = "node"
	v.Default()
	return v
}

// asAgent is a client of the hub's API with an agent's certificate.
func (s *site) asAgent(c agentdaemon.Config) *api.Client {
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
	client, err := api.NewClient(api.Config{BaseURL: "https://" + s.hub.API, CA: s.ca(), Certificate: id.Answer.Certificate, Key: id.LinkKey})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(client.CloseIdle)
	return client
}

// sealedAt are the digests of sealed user data that an agent keeps: its image has one
// file, which has this size.
func (s *site) sealedAt(c agentdaemon.Config) (digests []string) {
	s.t.Helper()
	files, err := os.ReadDir(filepath.Join(c.DataDir, "blobs"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err == nil && len(f.Name()) == 64 && info.Size() < 1024 {
			digests = append(digests, "sha256:"+f.Name())
		}
	}
	return digests
}

// TestUserData is the life of a server's user data: rendered at the hub, sealed, fetched by
// its agent and by no other, given to the server, and destroyed with the claim. Nothing
// that is stored, answered, logged or measured on the way has it.
func TestUserData(t *testing.T) {
	t.Parallel()
	s := newSiteOf(t, 1, func(c *sim.ServerConfig) { c.UserData = true })
	spy := s.spy()
	s.hub.Secrets.KeyFile = s.keyFile("one.key", "01")
	s.password(firstCanary)
	s.startHub()
	other := &resource.Rack{}
	other.Metadata.Name = "r2"
	other.Default()
	s.apply(append(s.central(), account(firstCanary), other)...)

	bad := ignites(canary)
	bad.Spec.Data[resource.SecretUserData] = resource.Plain("variant: fcos\nversion: 1.5.0\nstorage:\n  files:\n    - path: " + canary + "\n")
	_, err := s.client.Objects.Apply(t.Context(), []resource.Object{bad}, false)
	spy.heard("user data that is wrong", err)
	if p, ok := errors.AsType[*api.Problem](err); !ok || len(p.Errors) != 1 || !strings.Contains(p.Errors[0].Message, "$.storage.files[0].path") {
		t.Errorf("it says %+v", p)
	} else {
		spy.read("the field that is wrong", []byte(p.Errors[0].Path+p.Errors[0].Message))
	}

	c := s.firstAgent()
	c.Metrics = spy.agent
	s.noCredentials(c.CredentialsDir)
	s.join(c)
	stopAgent := s.startAgent(c)
	claim := s.claim("n1")
	claim.Spec.IgnitionSecretRef = &resource.Ref{Name: "node"}
	s.apply(ignites(secondCanary), claim)
	s.untilServer("n1", "the two choices", func(v *resource.Server) bool { return has(v.Status.Conditions, resource.CondSecretsWait) })
	rack, _ := get[*resource.Rack](s, "r1")
	rack.Spec.Secrets = resource.SecretsSegment
	s.apply(rack)
	s.untilServer("n1", "the disk boot after the installation", diskBoot)
	kind, data := s.servers[0].Boots.UserData()
	if want := `{"ignition":{"version":"3.4.0"},"passwd":{"users":[{"name":"` + secondCanary + `"}]}}`; string(data) != want || kind != resource.TypeIgnition {
		t.Errorf("the server got %q of type %s", data, kind)
	}
	spy.look()

	sealed := s.sealedAt(c)
	if len(sealed) != 1 {
		t.Fatalf("the agent keeps %v", sealed)
	}
	c2 := s.agentConfig("agent2", freePorts(t, 1)[0], freePorts(t, 1)[0])
	token, err := s.client.Agents.NewToken(t.Context(), "r2", api.TokenRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agentdaemon.Join(t.Context(), c2, "https://"+s.hub.API, token.Token, s.ca()); err != nil {
		t.Fatal(err)
	}
	q := api.IgnitionRequest{Sealed: sealed[0]}
	if got, err := s.asAgent(c).Environments.Ignition(t.Context(), q); err != nil || len(got.Body) == 0 {
		t.Errorf("its own agent: %v", err)
	}
	for who, client := range map[string]*api.Client{"another rack's agent": s.asAgent(c2), "the admin": s.client} {
		if got, err := client.Environments.Ignition(t.Context(), q); protocol.CodeOf(err) != protocol.CodeDenied || len(got.Body) > 0 {
			t.Errorf("%s: %v", who, err)
		}
	}

	// Another version: the claim says so, and nothing else happens.
	s.apply(ignites(firstCanary))
	s.until("the condition of the claim", func() bool {
		v, ok := get[*resource.Claim](s, "c-n1")
		return ok && has(v.Status.Conditions, resource.CondReprovisionRequired)
	}, func() any { return "none" })
	s.installedOnce()

	if _, err := s.client.Objects.Delete(t.Context(), resource.KindClaim, "c-n1"); err != nil {
		t.Fatal(err)
	}
	s.until("the end of the claim", func() bool { _, ok := get[*resource.Claim](s, "c-n1"); return !ok }, func() any { return "a claim" })
	s.until("the end of what the agent kept", func() bool { return len(s.sealedAt(c)) == 0 }, func() any { return s.sealedAt(c) })
	s.until("the end of what the hub kept", func() bool {
		_, err := s.asAgent(c).Environments.Ignition(t.Context(), q)
		return protocol.CodeOf(err) == protocol.CodeDenied
	}, func() any { return "it is given" })
	spy.look()
	stopAgent()
	s.stopHub()
	spy.clean(s.hub.Secrets.KeyFile)
	spy.databaseClean(c.DataDir, len(s.servers))
}
