package daemon

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/hub/access"
	"rackboot/hub/pki"
	"rackboot/protocol"
)

// A file of authorities has authorities and nothing else, and not the hub's own.
func TestClientCA(t *testing.T) {
	dir := t.TempDir()
	own, err := pki.Open(filepath.Join(dir, "own"), []string{"hub.example"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := pki.Open(filepath.Join(dir, "other"), []string{"hub.example"})
	if err != nil {
		t.Fatal(err)
	}
	agent, err := other.IssueAgent(csr(t), "rack-1", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ca := string(other.CAPEM())
	for _, row := range []struct {
		name, text string
		ok         bool
	}{
		{"one", ca, true},
		{"two", ca + string(agent), false},
		{"the hub's own", ca + string(own.CAPEM()), false},
		{"empty", "\n", false},
		{"words", ca + "words", false},
		{"a key", ca + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", false},
		{"no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", false},
		{"long", strings.Repeat(ca, 1000), false},
	} {
		c := Config{Followed: Followed{ClientCA: filepath.Join(dir, "ca.pem")}}
		if err := os.WriteFile(c.ClientCA, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := c.readClientCA()
		if err == nil {
			err = c.apart(list, own.CAPEM())
		}
		if (err == nil) != row.ok || !row.ok && (protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" || !strings.Contains(err.Error(), c.ClientCA)) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	if _, err := (&Config{Followed: Followed{ClientCA: filepath.Join(dir, "none")}}).readClientCA(); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("no file: %v", err)
	}
	if list, err := (&Config{}).readClientCA(); list != nil || err != nil {
		t.Errorf("none: %v, %v", list, err)
	}
}

// The certificate of a client is the hub's, marked, and no name of an agent.
func TestClientCertificate(t *testing.T) {
	c := Config{DataDir: t.TempDir(), Names: []string{"hub.example"}}
	raw, commonName, err := ClientCertificate(c, "page", csr(t), time.Hour)
	if err != nil || commonName != "page.client" {
		t.Fatal(commonName, err)
	}
	block, _ := pem.Decode(raw)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if cert.Subject.CommonName != commonName || protocol.ValidName(commonName) || len(cert.Subject.OrganizationalUnit) != 1 ||
		cert.Subject.OrganizationalUnit[0] != access.ClientUnit || len(cert.ExtKeyUsage) != 1 || cert.ExtKeyUsage[0] != x509.ExtKeyUsageClientAuth || cert.IsCA {
		t.Errorf("%+v", cert.Subject)
	}
	for name, give := range map[string]struct {
		name string
		csr  []byte
		life time.Duration
	}{
		"no name":   {"a.b", csr(t), time.Hour},
		"nonsense":  {"page", []byte("x"), time.Hour},
		"for ever":  {"page", csr(t), pki.MaxClientValidity + 1},
		"for never": {"page", csr(t), 0},
	} {
		if _, _, err := ClientCertificate(c, give.name, give.csr, give.life); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func csr(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}
