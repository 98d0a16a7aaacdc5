package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// The passwords of this test must be nowhere but in memory. Their beginning is what is
// looked for.
const (
	canary       = "canary-9f1c"
	firstCanary  = canary + "-first"
	secondCanary = canary + "-second"
)

// TestSecretsEverywhere is the life of a BMC's account that is central: servers boot
// with it, it is changed, hub and agent are restarted apart, the agent is replaced, and
// the key of the hub's secrets is rotated. Nothing that is stored, answered, logged or
// measured on the way has it.
func TestSecretsEverywhere(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	spy := s.spy()
	key, next := s.keyFile("one.key", "01"), s.keyFile("two.key", "02")
	s.hub.Secrets.KeyFile = key
	s.password(firstCanary)
	s.startHub()
	s.apply(append(s.central(), account(firstCanary))...)
	c := s.firstAgent()
	c.Metrics = spy.agent
	s.noCredentials(c.CredentialsDir)
	s.join(c)
	stopAgent := s.startAgent(c)
	s.provision()

	// The hub is away and the agent starts again: it has the account on its disk.
	h := s.place("n1", "k", resource.HoldFenced)
	spy.look()
	s.stopHub()
	stopAgent()
	s.servers[0].BMC.SetCredentials("admin", firstCanary) // which ends the sessions too
	s.servers[0].BMC.ExternalOn()
	stopAgent = s.startAgent(c)
	s.until("n1 forced off again", func() bool { return s.servers[0].BMC.PowerState() == protocol.PowerOff }, func() any { return "on" })
	s.startHub()
	s.untilHold(h.Metadata.Name, resource.HoldFenced)
	s.release(h.Metadata.Name)
	s.untilServer("n1", "the disk boot after the release", diskBoot)

	// Another password: the next version, for both BMCs.
	s.password(secondCanary)
	s.apply(account(secondCanary))
	s.untilVersion(2)
	s.reboot("n1")
	spy.look()

	// Another key of the hub, with the first one still listed; then without it.
	s.stopHub()
	s.hub.Secrets.KeyFile = next
	s.hub.Secrets.Previous = append(s.hub.Secrets.Previous, s.hub.Secrets.SecretKey)
	s.hub.Secrets.Previous[0].KeyFile = key
	s.startHub()
	s.stopHub()
	s.hub.Secrets.Previous = nil
	s.startHub()

	// Another agent: everything is sealed for its key.
	stopAgent()
	if _, err := s.client.Objects.Delete(t.Context(), resource.KindAgent, "r1-1"); err != nil {
		t.Fatal(err)
	}
	ports := freePorts(t, 2)
	c2 := s.agentConfig("agent2", ports[0], ports[1])
	c2.Metrics = spy.agent
	s.noCredentials(c2.CredentialsDir)
	s.until("the free rack", func() bool {
		_, err := s.client.Agents.NewToken(t.Context(), rackName, api.TokenRequest{})
		return err == nil
	}, func() any { return "a taken rack" })
	s.join(c2)
	stopAgent = s.startAgent(c2)
	s.untilServer("n1", "the disk boot as the new agent sees it", func(v *resource.Server) bool {
		return v.Status.Report.Observation.Power == protocol.PowerOn && v.Status.Report.OwnerUID != "" && !has(v.Status.Conditions, resource.CondServerOn)
	})
	s.reboot("n1")
	s.installedOnce()
	spy.look()
	stopAgent()
	s.stopHub()
	spy.clean(key, next)
	spy.databaseClean(c.DataDir, len(s.servers))
	spy.databaseClean(c2.DataDir, len(s.servers))
}

// TestWrongSecretKey: a hub whose key is gone or another one does everything else, says
// what is wrong, writes no secret, and loses none.
func TestWrongSecretKey(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	key, other := s.keyFile("one.key", "01"), s.keyFile("two.key", "02")
	s.hub.Secrets.KeyFile = key
	s.password(firstCanary)
	s.startHub()
	s.apply(append(s.central(), account(firstCanary))...)
	c := s.firstAgent()
	s.join(c)
	s.startAgent(c)
	s.apply(s.claim("n1"))
	s.untilServer("n1", "the disk boot", diskBoot)
	for _, wrong := range []string{other, ""} {
		s.stopHub()
		s.hub.Secrets.KeyFile = wrong
		s.startHub()
		_, err := s.client.Objects.Apply(t.Context(), []resource.Object{account(secondCanary)}, false)
		if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(protocol.HintOf(err), "secrets") || strings.Contains(err.Error(), canary) {
			t.Errorf("key %q: a secret is written: %v (%s)", wrong, err, protocol.HintOf(err))
		}
		v, ok := get[*resource.Secret](s, "bmc")
		if !ok || v.Status.Version != 1 || !has(v.Status.Conditions, resource.CondSecretUnreadable) {
			t.Errorf("key %q: the secret is %+v", wrong, v.Status)
		}
		s.reboot("n1") // the agent has what was sealed before
	}
	s.stopHub()
	s.hub.Secrets.KeyFile = key
	s.startHub()
	s.password(secondCanary)
	s.apply(account(secondCanary))
	s.untilVersion(2)
	s.reboot("n1")
}

// central are the manifests with the credentials at the hub.
func (s *site) central() []resource.Object {
	objs := s.manifests()
	for _, o := range objs {
		if b, ok := o.(*resource.BMC); ok {
			b.Spec.CredentialsRef = "secret:bmc"
		}
	}
	return objs
}

func account(password string) *resource.Secret {
	v := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretBMC, Data: resource.SecretData{
		resource.SecretUsername: resource.Plain("admin"), resource.SecretPassword: resource.Plain(password),
	}}}
	v.Metadata.Name = "bmc"
	v.Default()
	return v
}

// password changes it at all BMCs.
func (s *site) password(p string) {
	for _, sv := range s.servers {
		sv.BMC.SetCredentials("admin", p)
	}
}

// keyFile makes a key-encryption key of one repeated byte.
func (s *site) keyFile(name, octet string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(strings.Repeat(octet, 32)+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *site) noCredentials(dir string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(dir, "bmc")); err != nil {
		s.t.Fatal(err)
	}
}

// untilVersion waits until every BMC answers to the account of a version.
func (s *site) untilVersion(version uint64) {
	s.t.Helper()
	s.until("the next version", func() bool {
		v, ok := get[*resource.Secret](s, "bmc")
		return ok && v.Status.Version == version
	}, func() any { return "an older one" })
	for _, sv := range s.servers {
		s.untilServer(sv.Name, "a read with the new account", func(v *resource.Server) bool {
			return v.Status.Report.Observation.Code == "" && !has(v.Status.Conditions, resource.CondBMCDenied)
		})
	}
}
