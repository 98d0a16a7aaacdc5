package daemon

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"rackboot/protocol"
)

// What signed itself is believed, and a file in which nothing did is refused: it would vouch for no TPM.
func TestTPMAuthorities(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := func(name, by string) []byte {
		der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}},
			&x509.Certificate{Subject: pkix.Name{CommonName: by}}, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	root, middle := made("root", "root"), made("middle", "root")
	for name, row := range map[string]struct {
		text  []byte
		roots int
		other int
		code  protocol.Code
	}{
		"both":              {append(append([]byte("a comment\n"), root...), middle...), 1, 1, ""},
		"the one between":   {middle, 0, 0, protocol.CodeInvalid},
		"nothing":           {nil, 0, 0, protocol.CodeInvalid},
		"another thing too": {append(append([]byte{}, root...), pem.EncodeToMemory(&pem.Block{Type: "X", Bytes: []byte("x")})...), 0, 0, protocol.CodeInvalid},
		"too much":          {make([]byte, maxAuthorities+1), 0, 0, protocol.CodeInvalid},
	} {
		path := filepath.Join(t.TempDir(), "tpm.pem")
		if err := os.WriteFile(path, row.text, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := tpmAuthorities(path)
		if len(got.Roots) != row.roots || len(got.Intermediates) != row.other || err != nil && protocol.CodeOf(err) != row.code || (err == nil) != (row.code == "") {
			t.Errorf("%s: %d and %d, %v", name, len(got.Roots), len(got.Intermediates), err)
		}
	}
	if got, err := tpmAuthorities(""); err != nil || got.Roots != nil {
		t.Errorf("no file: %v, %v", got, err)
	}
	if _, err := tpmAuthorities("/none.pem"); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("a file that is not there: %v", err)
	}
}
