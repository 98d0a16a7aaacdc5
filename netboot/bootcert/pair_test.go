package bootcert

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"rackboot/netboot"
)

func testTime() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func testNames() Names {
	return Names{Addrs: []netip.Addr{netip.MustParseAddr("10.7.0.1")}, DNS: []string{"boot.example"}}
}

// RSA keys take seconds under the race detector: two do for all tests, in turn.
var rsaKeys = sync.OnceValue(func() chan crypto.Signer {
	out := make(chan crypto.Signer, 2)
	for range cap(out) {
		key, err := newKey(netboot.KeyRSA)
		if err != nil {
			panic(err)
		}
		out <- key
	}
	return out
})

func testKey(kind netboot.KeyKind) (crypto.Signer, error) {
	if kind != netboot.KeyRSA {
		return newKey(kind)
	}
	key := <-rsaKeys()
	rsaKeys() <- key
	return key, nil
}

var testPairs = sync.OnceValues(func() (*Authority, map[netboot.KeyKind]Pair) {
	a, err := newAuthority(testTime(), testKey)
	if err != nil {
		panic(err)
	}
	out := map[netboot.KeyKind]Pair{}
	for _, kind := range kinds {
		if out[kind], err = a.issue(kind, testNames(), testTime(), testKey); err != nil {
			panic(err)
		}
	}
	return a, out
})

func mustKeyPEM(t testing.TB, p Pair) []byte {
	t.Helper()
	b, err := keyPEM(p.Key)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParsePair(t *testing.T) {
	_, pairs := testPairs()
	ec, rs := pairs[netboot.KeyECDSA], pairs[netboot.KeyRSA]
	cert, key := certPEM(ec.Leaf()), mustKeyPEM(t, ec)
	sec1, err := x509.MarshalECPrivateKey(ec.Key.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	block := func(typ string, data []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: typ, Bytes: data}) }
	for _, row := range []struct {
		name      string
		cert, key []byte
		want      string // of the error
	}{
		{"PKCS 8", cert, key, ""},
		{"as openssl ecparam writes it", cert, append(block("EC PARAMETERS", []byte{6, 0}), block("EC PRIVATE KEY", sec1)...), ""},
		{"with an intermediate", append(bytes.Clone(cert), certPEM(rs.Leaf())...), key, ""},
		{"text around it", append([]byte("subject=x\n"), cert...), key, ""},
		{"no certificate", nil, key, "no certificate in PEM"},
		{"DER", ec.Leaf().Raw, key, "no certificate in PEM"},
		{"a damaged certificate", block("CERTIFICATE", []byte("x")), key, "certificate 1"},
		{"no key", cert, nil, "no private key"},
		{"a damaged key", cert, block("PRIVATE KEY", []byte("secret")), "cannot be read"},
		{"an encrypted key", cert, block("ENCRYPTED PRIVATE KEY", []byte("secret")), "encrypted"},
		{"another key", cert, mustKeyPEM(t, rs), "not that of the first certificate"},
	} {
		p, err := parsePair(row.cert, row.key)
		switch {
		case row.want == "" && (err != nil || p.Kind() != netboot.KeyECDSA || p.TLS().Leaf != p.Leaf()):
			t.Errorf("%s: %v", row.name, err)
		case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "secret")):
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}

func FuzzParsePair(f *testing.F) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	template := &x509.Certificate{NotAfter: testTime()}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		f.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		f.Fatal(err)
	}
	good := Pair{Chain: []*x509.Certificate{cert}, Key: key}
	f.Add(certPEM(cert), mustKeyPEM(f, good))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"), []byte("-----BEGIN EC PRIVATE KEY-----\n-----END EC PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, certificates, key []byte) {
		p, err := parsePair(certificates, key)
		if err != nil {
			return
		}
		// What was read can be checked, served and written again.
		_ = Check(netboot.KeyECDSA, p, testNames(), nil, testTime())
		if len(p.TLS().Certificate) != len(p.Chain) {
			t.Fatal("the chain is cut")
		}
		if KeyName(p.Leaf()) == "" {
			t.Fatal("a key without a name")
		}
	})
}
