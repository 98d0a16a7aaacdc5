package daemon

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/hub/cluster"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestAgentsOf(t *testing.T) {
	rack := func(name string, term uint64) resource.Object {
		r := &resource.Rack{}
		r.Metadata.Name, r.Status.Term = name, term
		return r
	}
	agent := func(rack, name string, term uint64, conditions ...resource.ConditionCode) resource.Object {
		a := &resource.Agent{Spec: resource.AgentSpec{RackRef: resource.Ref{Name: rack}, Term: term}}
		a.Metadata.Name = name
		for _, c := range conditions {
			a.Status.Conditions = append(a.Status.Conditions, resource.ConditionState{Code: c})
		}
		return a
	}
	long := strings.Repeat("a", 63)
	for name, row := range map[string]struct {
		racks, agents []resource.Object
		want          string
	}{
		"nothing":                          {nil, nil, ""},
		"a rack without an agent":          {[]resource.Object{rack("a", 0)}, nil, "a-1"},
		"with one":                         {[]resource.Object{rack("a", 1)}, []resource.Object{agent("a", "a-1", 1)}, "a-1 a-2"},
		"with a standby":                   {[]resource.Object{rack("a", 1)}, []resource.Object{agent("a", "a-1", 1), agent("a", "a-2", 2)}, "a-1 a-2 a-3"},
		"one that was replaced is told so": {[]resource.Object{rack("a", 2)}, []resource.Object{agent("a", "a-1", 1, resource.CondSuperseded), agent("a", "a-2", 2)}, "a-1 a-2 a-3"},
		"one that is revoked":              {[]resource.Object{rack("a", 1)}, []resource.Object{agent("a", "a-1", 1, resource.CondDark, resource.CondRevoked)}, "a-2"},
		"a revoked standby":                {[]resource.Object{rack("a", 1)}, []resource.Object{agent("a", "a-1", 1), agent("a", "a-2", 2, resource.CondRevoked)}, "a-1 a-3"},
		"a rack that is gone":              {nil, []resource.Object{agent("a", "a-1", 1)}, "a-1"},
		"a name that none can join":        {[]resource.Object{rack(long, 0)}, nil, ""},
	} {
		if got := strings.Join(agentsOf(row.racks, row.agents), " "); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func TestOwnAPI(t *testing.T) {
	for listens, want := range map[string]string{
		"0.0.0.0:8443": "https://127.0.0.1:8443", ":8443": "https://127.0.0.1:8443", "[::]:8443": "https://127.0.0.1:8443",
		"127.0.0.1:1": "https://127.0.0.1:1", "[::1]:1": "https://[::1]:1", "localhost:1": "https://localhost:1",
		"192.0.2.1:8443": "https://192.0.2.1:8443", "192.0.2.9:8443": "https://hub.example:8443",
	} {
		c := Config{API: listens, Names: []string{"hub.example", "192.0.2.1"}}
		if got := c.ownAPI(); got != want {
			t.Errorf("%s: %s, want %s", listens, got, want)
		}
	}
}

// Before there is a hub that runs, the hub and the store are written down by their certificates; a certificate that no
// broker tells apart from others is refused.
func TestFirstBrokerUsers(t *testing.T) {
	cn := func(v string) pkix.RelativeDistinguishedNameSET {
		return pkix.RelativeDistinguishedNameSET{{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: v}}
	}
	attribute := func(v string, oid ...int) pkix.RelativeDistinguishedNameSET {
		return pkix.RelativeDistinguishedNameSET{{Type: oid, Value: v}}
	}
	for _, row := range []struct {
		name        string
		hub, store  pkix.RDNSequence // nil is none
		kind        BrokerKind
		code        protocol.Code // empty is printed
		says, lacks []string
	}{
		{"by default", nil, nil, BrokerNATS, "", []string{`"CN=rackboot.hub"`, "RACKBOOT:"}, []string{"RACKBOOT_STORE"}},
		{"at Mosquitto", nil, pkix.RDNSequence{cn("s")}, BrokerMosquitto, "", []string{"\nuser rackboot.hub\n"}, []string{"user s"}},
		{"certificates of the site", pkix.RDNSequence{attribute("Example", 2, 5, 4, 10), cn("hub")}, pkix.RDNSequence{cn("store")}, BrokerNATS, "", []string{`"CN=hub,O=Example"`, `"CN=store"`}, []string{"rackboot.hub"}},
		{"one for both", pkix.RDNSequence{cn("hub.x")}, pkix.RDNSequence{cn("hub.x")}, BrokerNATS, protocol.CodeInvalid, []string{"hub.x"}, nil},
		{"an attribute that NATS does not see", pkix.RDNSequence{attribute("x", 0, 9, 2342, 19200300, 100, 1, 1), cn("hub.x")}, nil, BrokerNATS, protocol.CodeInvalid, []string{"broker.certFile"}, nil},
		{"several in one place", nil, pkix.RDNSequence{append(cn("a"), cn("b")...)}, BrokerNATS, protocol.CodeInvalid, []string{"store.nats.certFile"}, nil},
		{"no subject", nil, pkix.RDNSequence{}, BrokerNATS, protocol.CodeInvalid, []string{"subject"}, nil},
		{"quotes", pkix.RDNSequence{cn(`a" b`)}, nil, BrokerNATS, protocol.CodeInvalid, []string{"subject"}, nil},
		{"another broker", nil, nil, "emqx", protocol.CodeInvalid, []string{"emqx", "mosquitto"}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := Config{DataDir: t.TempDir(), Names: []string{"hub.example"}, Broker: Broker{URL: "mqtts://mqtt.example:8883"}}
			if row.hub != nil {
				c.Broker.CertFile = certificateOf(t, row.hub)
			}
			if row.store != nil {
				c.Store.NATS = &cluster.Config{CertFile: certificateOf(t, row.store)}
			}
			out, err := BrokerUsers(t.Context(), c, row.kind, true)
			if protocol.CodeOf(err) != row.code || (err != nil) != (row.code != "") || (err == nil) == (out == nil) {
				t.Fatalf("%v\n%s", err, out)
			}
			text := string(out)
			if err != nil {
				text = err.Error()
			}
			for _, want := range row.says {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing in\n%s", want, text)
				}
			}
			if i := slices.IndexFunc(row.lacks, func(s string) bool { return strings.Contains(text, s) }); i >= 0 {
				t.Errorf("%q is in\n%s", row.lacks[i], text)
			}
		})
	}
}

func TestBrokerUsersWithoutAHub(t *testing.T) {
	c := Config{DataDir: t.TempDir(), Names: []string{"hub.example"}, API: "127.0.0.1:1", Broker: Broker{URL: "mqtts://mqtt.example:8883"}}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	out, err := BrokerUsers(ctx, c, BrokerNATS, false)
	if code := protocol.CodeOf(err); out != nil || code != protocol.CodeUnavailable && code != protocol.CodeTimeout || !strings.Contains(protocol.HintOf(err), "--first") {
		t.Errorf("no hub answers: %v, hint %q\n%s", err, protocol.HintOf(err), out)
	}
	c.Broker.URL = ""
	if out, err := BrokerUsers(ctx, c, BrokerNATS, true); out != nil || protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
		t.Errorf("the hub's own broker: %v\n%s", err, out)
	}
}

func TestCheckBrokerUsers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users")
	if err := CheckBrokerUsers(path, nil); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckBrokerUsers(path, []byte("a\n")); err != nil {
		t.Errorf("the same: %v", err)
	}
	if err := CheckBrokerUsers(path, []byte("a")); protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "" {
		t.Errorf("another: %v", err)
	}
}

// certificateOf is a file with a key, and a certificate of a subject.
func certificateOf(t *testing.T, subject pkix.RDNSequence) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := asn1.Marshal(subject)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), RawSubject: raw, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	own, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cert.pem")
	text := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: own}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
