package brokers

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	agentdaemon "rackboot/agent/daemon"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// The account of the registry, and its line of htpasswd.
const (
	registryUser     = "puller"
	registryPassword = "registry pw 31"
	registryEntry    = registryUser + ":$2a$05$P/i7c8JLkHpmpPoUrGnHyuuzz9dp3s.7N8YjW6iM3mrO5psIAOpFu\n"
)

// privateRegistry is Debian's docker-registry with TLS of an authority of its own and
// basic authentication.
type privateRegistry struct {
	*server
	login sim.Login
	ca    string
}

func startPrivateRegistry(t *testing.T) *privateRegistry {
	t.Helper()
	program, dir, addr := registryProgram(t), t.TempDir(), freeAddress(t)
	ca := writeBrokerCertificate(t, dir)
	pem, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	config := strings.NewReplacer("DIR", dir, "ADDR", addr).Replace(`version: 0.1
log: {level: warn}
storage:
  filesystem: {rootdirectory: "DIR/blobs"}
auth:
  htpasswd: {realm: site, path: "DIR/htpasswd"}
http:
  addr: "ADDR"
  secret: "of one run"
  tls: {certificate: "DIR/broker.pem", key: "DIR/broker.key"}
`)
	for name, text := range map[string]string{"registry.yaml": config, "htpasswd": registryEntry} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trust := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	transport := &http.Transport{TLSClientConfig: trust}
	t.Cleanup(transport.CloseIdleConnections)
	r := &privateRegistry{
		server: &server{t: t, name: "registry", dir: dir, addr: addr, program: program, args: []string{"serve", filepath.Join(dir, "registry.yaml")}, tls: trust},
		login:  sim.Login{Transport: transport, Username: registryUser, Password: registryPassword}, ca: ca,
	}
	r.start()
	t.Cleanup(r.kill)
	r.listens()
	return r
}

// push puts an image for two architectures under a tag.
func (r *privateRegistry) push(tag, content string) (reference string, digests map[string]string) {
	r.t.Helper()
	amd := sim.UKI(bytes.Repeat([]byte(content), 64<<10))
	arm := bytes.Clone(amd)
	binary.LittleEndian.PutUint16(arm[0x44:], 0xaa64) // the machine
	reference = r.addr + "/team/os:" + tag
	digests, err := r.login.Push(r.t.Context(), reference, map[string][]sim.Layer{
		"amd64": {{MediaType: sim.UKIMediaType, Content: amd}}, "arm64": {{MediaType: sim.UKIMediaType, Content: arm}},
	})
	if err != nil {
		r.t.Fatalf("push %s: %v", reference, err)
	}
	return reference, digests
}

// TestPrivateRegistry: what a wrong account does to hub and agent, and that it goes on by
// itself when it is corrected; that a tag which moves after the claim moves nothing; and
// that a rack boots without the registry.
func TestPrivateRegistry(t *testing.T) {
	t.Parallel()
	reg := startPrivateRegistry(t)
	s := newSite(t, 0, embedded)
	var digests map[string]string
	s.image, digests = reg.push("1", "first image ")
	kek, account := filepath.Join(s.dir, "kek"), filepath.Join(s.agent.CredentialsDir, "registry")
	s.write(kek, strings.Repeat("7a", 32)+"\n")
	s.write(account, "username: puller\npassword: wrong-canary\n")
	s.hub.Secrets.KeyFile = kek
	s.hub.Images = hubdaemon.Images{CAFile: reg.ca, Allow: []string{reg.addr + "/team"}, Accounts: []hubdaemon.RegistryAccount{{Host: reg.addr, Secret: "registry"}}}
	s.agent.Images.CAFile, s.agent.Images.Allow = reg.ca, []string{reg.addr}
	s.agent.Images.Accounts = []agentdaemon.RegistryAccount{{Host: reg.addr, File: "registry"}}
	s.startHub()
	objs := s.manifests()
	claim := objs[len(objs)-1].(*resource.Claim)
	claim.Spec.BootPolicy.Boot = resource.BootNetwork
	s.applies(objs...)
	s.join()
	s.startAgent()

	s.claimHas(resource.CondRegistryUnavailable, "does not exist")
	s.applies(registrySecret("wrong-canary"))
	s.claimHas(resource.CondRegistryUnavailable, "denies")
	if list, err := s.client.Objects.List(t.Context(), resource.KindBootConfiguration); err != nil || len(list) != 0 {
		t.Fatalf("%d boot configurations without an image, %v", len(list), err)
	}
	s.applies(registrySecret(registryPassword))
	s.claimHas(resource.CondArtefactsFailed, "denies")
	if n, _, _, _ := s.server.Boots.Counts(); n != 0 || s.server.BMC.PowerState() != protocol.PowerOff {
		t.Fatalf("the server is %s after %d boots, without its files", s.server.BMC.PowerState(), n)
	}
	// The tag moves before the agent has anything of what it meant.
	if _, moved := reg.push("1", "second image "); moved["amd64"] == digests["amd64"] {
		t.Fatal("both images have one digest")
	}
	s.stopHub()
	s.startHub()
	s.write(account, "username: puller\npassword: "+registryPassword+"\n")
	s.boots(1)
	cfg, err := api.Get[*resource.BootConfiguration](t.Context(), s.client, "c1")
	if err != nil || cfg.Spec.Image.Digest != digests["amd64"] {
		t.Fatalf("configured with %+v, want %s: %v", cfg, digests["amd64"], err)
	}

	reg.kill()
	s.stopAgent()
	s.startAgent()
	if _, err := s.client.Requests.Reboot(t.Context(), "n1", api.RebootRequest{Mode: resource.StopHard}); err != nil {
		t.Fatal(err)
	}
	s.boots(2)

	// Neither claims nor servers say what was wrong with words that are a password.
	for _, kind := range []resource.Kind{resource.KindClaim, resource.KindServer, resource.KindSecret} {
		list, err := s.client.Objects.List(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list {
			if raw := encoded(t, o); strings.Contains(raw, "wrong-canary") || strings.Contains(raw, registryPassword) {
				t.Errorf("a password is in %s", raw)
			}
		}
	}
	other := &resource.Claim{}
	*other = *claim
	other.Metadata = resource.Metadata{Name: "c1"}
	other.Spec.Image = strings.Replace(s.image, "/team/", "/other/", 1)
	if _, err := s.client.Objects.Delete(t.Context(), resource.KindClaim, "c1"); err != nil {
		t.Fatal(err)
	}
	s.until("the end of the claim", func() bool {
		_, err := api.Get[*resource.Claim](t.Context(), s.client, "c1")
		return protocol.CodeOf(err) == protocol.CodeNotFound
	}, func() any { return nil })
	s.applies(other)
	s.claimHas(resource.CondImageInvalid, "not allowed here")
}

func registrySecret(password string) *resource.Secret {
	v := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretRegistry, Data: resource.SecretData{
		resource.SecretUsername: resource.Plain(registryUser), resource.SecretPassword: resource.Plain(password),
	}}}
	v.Metadata.Name = "registry"
	v.Default()
	return v
}

func (s *site) write(path, text string) {
	s.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) applies(objs ...resource.Object) {
	s.t.Helper()
	if _, err := s.client.Objects.Apply(s.t.Context(), objs, false); err != nil {
		s.t.Fatal(err)
	}
}

// claimHas waits for a condition of the claim or its server.
func (s *site) claimHas(code resource.ConditionCode, text string) {
	s.t.Helper()
	var all []resource.ConditionState
	s.until(string(code)+" with "+text, func() bool {
		c, err := api.Get[*resource.Claim](s.t.Context(), s.client, "c1")
		v, err2 := api.Get[*resource.Server](s.t.Context(), s.client, "n1")
		if err != nil || err2 != nil {
			return false
		}
		all = append(c.Status.Conditions, v.Status.Conditions...)
		for _, cond := range all {
			if cond.Code == code && strings.Contains(cond.Message, text) {
				return true
			}
		}
		return false
	}, func() any { return all })
}

// boots waits until the server has run the image so many times.
func (s *site) boots(want int) {
	s.t.Helper()
	var last *resource.Server
	s.until("a boot from the network", func() bool {
		last, _ = api.Get[*resource.Server](s.t.Context(), s.client, "n1") // to say more
		n, _, _, installs := s.server.Boots.Counts()
		return n == want && installs == want && s.server.BMC.PowerState() == protocol.PowerOff
	}, func() any {
		if last == nil || last.Status.Report == nil {
			return "no report"
		}
		return *last.Status.Report
	})
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
