package image

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"rackboot/protocol"
)

func publicPEM(t testing.TB, public crypto.PublicKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// A key is one public key that is strong enough, and nothing else.
func TestParseSigningKey(t *testing.T) {
	good := publicPEM(t, ecKey(t, elliptic.P256()).Public())
	private, err := x509.MarshalPKCS8PrivateKey(ecKey(t, elliptic.P256()))
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		raw  []byte
		want string // in the error; empty for none
	}{
		"P-256":             {good, ""},
		"P-384":             {publicPEM(t, ecKey(t, elliptic.P384()).Public()), ""},
		"Ed25519":           {publicPEM(t, edKey(t).Public()), ""},
		"RSA-2048":          {publicPEM(t, rsaKey(t, 2048).Public()), ""},
		"a line before":     {append([]byte("release key\n"), good...), ""},
		"P-521":             {publicPEM(t, ecKey(t, elliptic.P521()).Public()), "curve is P-521"},
		"RSA-1024":          {publicPEM(t, rsaKey(t, 1024).Public()), "1024 bits"},
		"nothing":           {nil, "no PEM"},
		"a private key":     {pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), "private key"},
		"cosign.key":        {pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED SIGSTORE PRIVATE KEY", Bytes: []byte("{}")}), "private key"},
		"a certificate":     {pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}), `"CERTIFICATE"`},
		"two keys":          {append(bytes.Clone(good), good...), "behind the first key"},
		"a broken key":      {pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("x")}), "cannot be read"},
		"a key of megabyte": {append(bytes.Clone(good), make([]byte, MaxSigningKey)...), "more than"},
	} {
		k, err := ParseSigningKey("release", row.raw)
		if row.want == "" && (err != nil || k.Name != "release" || len(k.Fingerprint) != 64) {
			t.Errorf("%s: %+v, %v", name, k, err)
		}
		if row.want != "" && (protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.want) || protocol.HintOf(err) == "") {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
}
