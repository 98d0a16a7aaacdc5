package api_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/access"
	"rackboot/hub/api"
	"rackboot/hub/api/apitest"
	"rackboot/hub/api/gate"
	"rackboot/hub/pki"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// The attacker has a certificate: an agent's of the hub's authority, or one that nobody
// has named. Only the certificate of a client is a caller.
func TestCertificates(t *testing.T) {
	keys, err := pki.Open(filepath.Join(t.TempDir(), "pki"), []string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	mem, hub := storetest.NewMemory(), apitest.New(t) // whose authority is that of clients
	newID := func() string { return "01id" }
	s, err := store.Open(t.Context(), store.Config{KV: mem, Log: mem, Clock: time.Now, NewID: newID})
	if err != nil {
		t.Fatal(err)
	}
	viewer := []access.Role{access.Viewer}
	a, err := api.New(api.Config{
		Store: s, Rooms: apitest.Rooms(&apitest.CannedFleet{}), Token: apitest.Token, Clock: time.Now, NewID: newID, Registerer: prometheus.NewRegistry(),
		Callers: gate.Callers{
			Clients: []gate.Client{
				{Caller: access.Caller{Name: "page", Roles: viewer}, CommonName: "page.client"},
				{Caller: access.Caller{Name: "rack-1", Roles: viewer}, CommonName: "rack-1"}, // as an agent is called
				{Caller: access.Caller{Name: "outer", Roles: viewer}, CommonName: "outer"},
			},
			Authorities: []*x509.Certificate{hub.ClientCA()},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx, ln, keys.ServerTLS(hub.ClientCA())) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	csr, keyPEM := newRequest(t)
	agent, err := keys.IssueAgent(csr, "rack-1", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	page, err := keys.IssueClient(csr, "page", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	other, err := keys.IssueClient(csr, "other", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	outer, outerKey := hub.Certificate(t, "outer")
	stranger, strangerKey := hub.Certificate(t, "stranger")
	foreign, foreignKey := apitest.New(t).Certificate(t, "outer")
	for _, row := range []struct {
		name, token string
		cert, key   []byte
		want        string // name of the caller; empty: none
	}{
		{"none", "", nil, nil, ""},
		{"of an agent whose name is a client's", "", agent, keyPEM, ""},
		{"of an agent, with a token", apitest.Token, agent, keyPEM, "admin"},
		{"of the hub for a client", "", page, keyPEM, "page"},
		{"of the hub for a client, with a wrong token", apitest.Token + "x", page, keyPEM, ""},
		{"of the hub for a client that no file names", "", other, keyPEM, ""},
		{"of the authority of clients", "", outer, outerKey, "outer"},
		{"of the authority of clients, not named", "", stranger, strangerKey, ""},
		{"of an authority that nobody knows", "", foreign, foreignKey, ""},
	} {
		c, err := protoapi.NewClient(protoapi.Config{
			BaseURL: "https://" + ln.Addr().String(), CA: keys.CAPEM(), Token: row.token, Certificate: row.cert, Key: row.key,
		})
		if err != nil {
			t.Fatal(err)
		}
		me, err := c.Whoami(t.Context())
		c.CloseIdle()
		// TLS refuses what no authority has signed, before there is a request.
		if me.Name != row.want || (row.want == "") != (protocol.CodeOf(err) == protocol.CodeDenied || row.name == "of an authority that nobody knows" && err != nil) {
			t.Errorf("%s: %q, %v", row.name, me.Name, err)
		}
	}
}

func newRequest(t *testing.T) (csr, keyPEM []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
}

// What TLS has not verified is nobody, whatever it says.
func TestUnverifiedCertificate(t *testing.T) {
	a, hub := handler(t, func(*api.Config) {})
	raw, _ := hub.Certificate(t, "viewer")
	block, _ := pem.Decode(raw)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name  string
		state *tls.ConnectionState
		want  int
	}{
		{"verified", &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}, VerifiedChains: [][]*x509.Certificate{{cert, hub.ClientCA()}}}, http.StatusOK},
		{"shown only", &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}}, http.StatusUnauthorized},
		{"no TLS", nil, http.StatusUnauthorized},
	} {
		if got := askTLS(t, a, row.state); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}

func TestClientsThatCannotBe(t *testing.T) {
	who := func(name string) access.Caller { return access.Caller{Name: name} }
	long := strings.Repeat("x", 32)
	for name, clients := range map[string][]gate.Client{
		"neither token nor certificate": {{Caller: who("x")}},
		"the same certificate":          {{Caller: who("x"), CommonName: "n"}, {Caller: who("y"), CommonName: "n"}},
		"a role that is none":           {{Caller: access.Caller{Name: "x", Roles: []access.Role{"root"}}, Token: long}},
		"a short token":                 {{Caller: who("x"), Token: "short", CommonName: "n"}},
	} {
		_, err := api.New(api.Config{
			Store: apitest.New(t).Store, Rooms: apitest.Rooms(&apitest.CannedFleet{}), Token: apitest.Token, Clock: time.Now, NewID: func() string { return "x" },
			Registerer: prometheus.NewRegistry(), Callers: gate.Callers{Clients: clients},
		})
		if protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	two := []gate.Client{{Caller: who("x"), CommonName: "n"}, {Caller: who("y"), CommonName: "m"}}
	if _, err := api.New(api.Config{
		Store: apitest.New(t).Store, Rooms: apitest.Rooms(&apitest.CannedFleet{}), Token: apitest.Token, Clock: time.Now, NewID: func() string { return "x" },
		Registerer: prometheus.NewRegistry(), Callers: gate.Callers{Clients: two},
	}); err != nil {
		t.Errorf("two clients without tokens: %v", err)
	}
}
