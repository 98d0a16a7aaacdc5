package site

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	agentdaemon "rackboot/agent/daemon"
	"rackboot/hub/access"
	hubdaemon "rackboot/hub/daemon"
	"rackboot/integration/sim"
	"rackboot/netboot/image"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestOwnRegistry: with the hub's registry and no other one, an image is built, pushed and
// installed; the digest that push said is what the server's events say. The agent's file
// says nothing of it: the agent shows its certificate, and a revoked one is refused.
func TestOwnRegistry(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1)
	if err := s.reg.Close(); err != nil { // there is no other
		t.Fatal(err)
	}
	at := freePorts(t, 1)[0]
	s.hub.Registry = hubdaemon.Registry{Listen: at, QuotaMiB: 64, MinFreeMiB: 1}
	// Each guess is written to the audit log, and a slow disk takes no more of them than the ordinary rate allows.
	s.hub.Limits.SourcePerSecond = 2
	token := func(name string) string {
		path := filepath.Join(s.dir, name+".token")
		if err := os.WriteFile(path, []byte(strings.Repeat(name[:1], 32)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	s.hub.Clients = []hubdaemon.Client{
		{Name: "builder", TokenFile: token("builder"), Roles: []access.Role{access.Operator}},
		{Name: "viewer", TokenFile: token("viewer"), Roles: []access.Role{access.Viewer}},
		{Name: "fencer", TokenFile: token("fencer"), Roles: []access.Role{access.Fencer}},
		{Name: "scoped", TokenFile: token("scoped"), Roles: []access.Role{access.Operator}, Scope: &hubdaemon.Scope{MatchLabels: map[string]string{"team": "a"}}},
	}
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	stop := s.startAgent(c)

	uki := sim.UKI([]byte("unified kernel image of the hub's own registry"))
	file := filepath.Join(s.dir, "os.efi")
	if err := os.WriteFile(file, uki, 0o600); err != nil {
		t.Fatal(err)
	}
	built, err := image.Build(filepath.Join(s.dir, "os"), image.Parts{Architecture: "amd64", UKI: file})
	if err != nil {
		t.Fatal(err)
	}
	as := func(name, secret string) image.Options {
		return image.Options{CA: s.ca(), Accounts: func(context.Context, string) (image.Account, error) {
			return image.Account{Username: name, Password: secret}, nil
		}}
	}
	s.image = at + "/os/own:1"
	if _, err := built.Push(t.Context(), s.image, as("builder", strings.Repeat("b", 32)), nil); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]image.Options{
		"viewer": as("viewer", strings.Repeat("v", 32)), "fencer": as("fencer", strings.Repeat("f", 32)), "scoped": as("scoped", strings.Repeat("s", 32)),
		"nobody": {CA: s.ca()}, "wrong token": as("builder", strings.Repeat("x", 32)), "another's name": as("admin", strings.Repeat("b", 32)),
	} {
		if _, err := built.Push(t.Context(), at+"/os/other:1", o, nil); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("push by %s: %v", name, err)
		}
	}
	if _, err := image.Resolve(t.Context(), s.image, "amd64", as("viewer", strings.Repeat("v", 32))); err != nil {
		t.Errorf("pull by a viewer: %v", err)
	}
	s.provision()
	if got, want := s.servers[0].Disk.Digest(), digestOf(string(uki)); got != want {
		t.Errorf("installed is %s, pushed was %s", got, want)
	}
	cfg, ok := get[*resource.BootConfiguration](s, "c-n1")
	if !ok || cfg.Spec.Image.Digest != built.Digests["amd64"] {
		t.Errorf("the boot configuration has %+v, push said %s", cfg.Spec.Image, built.Digests["amd64"])
	}

	s.untilEvent("which image it is", func(e api.EventRecord) bool {
		return e.Code == resource.EventResolved && strings.Contains(e.Message, built.Digests["amd64"])
	})

	// The certificate of an agent lets it pull and no more, and that of a revoked one nothing.
	status := s.certified(c)
	if got := status(http.MethodGet, "https://"+at+"/v2/"); got != http.StatusOK {
		t.Errorf("an agent is answered %d", got)
	}
	if got := status(http.MethodPost, "https://"+at+"/v2/os/blobs/uploads/"); got != http.StatusForbidden {
		t.Errorf("an agent that pushes is answered %d", got)
	}
	// Guesses are counted as those at the API are.
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.ca())
	plain := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(plain.CloseIdleConnections)
	guess := func() int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+at+"/v2/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("admin", "wrong")
		return answered(t, plain, req)
	}
	const burst = 1000
	n := 0
	for n < burst && guess() == http.StatusUnauthorized {
		n++
	}
	if n == burst {
		t.Errorf("%d guesses were answered", n)
	}
	stop()
	if _, err := s.client.Agents.Revoke(t.Context(), "r1-1", api.EndRequest{Reason: "stolen"}); err != nil {
		t.Fatal(err)
	}
	if got := status(http.MethodGet, "https://"+at+"/v2/"); got != http.StatusUnauthorized {
		t.Errorf("a revoked agent is answered %d", got)
	}
}

// certified sends requests with the certificate of an agent, and returns what each is
// answered.
func (s *site) certified(c agentdaemon.Config) func(method, url string) int {
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
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.ca())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}}
	s.t.Cleanup(transport.CloseIdleConnections)
	return func(method, url string) int {
		s.t.Helper()
		req, err := http.NewRequestWithContext(s.t.Context(), method, url, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		return answered(s.t, transport, req)
	}
}

// answered sends a request and returns its status.
func answered(t testing.TB, transport *http.Transport, req *http.Request) int {
	t.Helper()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // only its status matters
	return resp.StatusCode
}
