package hub

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/protocol"
)

func TestClientCertificate(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := write("hub.yaml", fmt.Sprintf("dataDir: %s\napi: 127.0.0.1:8443\nmqtt: 127.0.0.1:8883\nnames: [hub.example]\n", filepath.Join(dir, "data")))
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	csr := write("csr.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})))
	for _, row := range []struct {
		name string
		args []string
		exit int
		says string
	}{
		{"a request", []string{"page", csr}, 0, "certificate: {commonName: page.client}"},
		{"too long", []string{"page", csr, "--days", "401"}, protocol.CodeInvalid.ExitCode(), "validity"},
		{"no request", []string{"page", config}, protocol.CodeInvalid.ExitCode(), "not one PEM block"},
		{"no file", []string{"page", csr + "x"}, protocol.CodeInvalid.ExitCode(), "hint: openssl req"},
		{"no name", []string{csr}, protocol.CodeInvalid.ExitCode(), "accepts 2 arg"},
	} {
		var out, err bytes.Buffer
		exit := Main(append([]string{"client-certificate", "--config", config}, row.args...), "test", &out, &err)
		if exit != row.exit || !strings.Contains(err.String(), row.says) || (out.Len() > 0) != (exit == 0) {
			t.Errorf("%s: exit %d, %s\n%s", row.name, exit, out.String(), err.String())
		}
		if exit == 0 && !strings.HasPrefix(out.String(), "-----BEGIN CERTIFICATE-----") {
			t.Errorf("%s: %s", row.name, out.String())
		}
	}
}
