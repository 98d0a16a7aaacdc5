package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"rackboot/integration/memnet"
	"rackboot/protocol"
)

func request(t testing.TB, key crypto.Signer, template *x509.CertificateRequest) []byte {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: blockRequest, Bytes: der})
}

func ecKey(t testing.TB, curve elliptic.Curve) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func edKey() crypto.Signer { return ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) }

func TestIssueAgentTakesOnlyTheKey(t *testing.T) {
	p := openAt(t, filepath.Join(t.TempDir(), "pki"), testTime())
	for _, key := range []crypto.Signer{ecKey(t, elliptic.P256()), edKey()} {
		csr := request(t, key, &x509.CertificateRequest{
			Subject:  pkix.Name{CommonName: HubIdentity, Organization: []string{"evil"}},
			DNSNames: []string{"hub.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, EmailAddresses: []string{"a@b.example"},
		})
		out, err := p.IssueAgent(csr, "rack-1", 30*24*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		block, rest := pem.Decode(out)
		if block == nil || len(rest) != 0 {
			t.Fatal("not one PEM block")
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if c.Subject.String() != "CN=rack-1" || len(c.DNSNames)+len(c.IPAddresses)+len(c.EmailAddresses)+len(c.URIs) != 0 || c.IsCA {
			t.Errorf("issued %s %v %v", c.Subject, c.DNSNames, c.IPAddresses)
		}
		if !c.NotAfter.Equal(testTime().Add(30 * 24 * time.Hour)) {
			t.Errorf("valid until %s", c.NotAfter)
		}
		verify := func(usage x509.ExtKeyUsage) error {
			_, err := c.Verify(x509.VerifyOptions{Roots: p.pool(), CurrentTime: testTime(), KeyUsages: []x509.ExtKeyUsage{usage}})
			return err
		}
		if err := verify(x509.ExtKeyUsageClientAuth); err != nil {
			t.Error(err)
		}
		if verify(x509.ExtKeyUsageServerAuth) == nil {
			t.Error("an agent could pose as the hub")
		}
	}
}

func TestIssueAgentRefuses(t *testing.T) {
	p := openAt(t, filepath.Join(t.TempDir(), "pki"), testTime())
	good := request(t, edKey(), &x509.CertificateRequest{})
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(good)
	forged := append([]byte{}, block.Bytes...)
	forged[len(forged)-1] ^= 1
	for _, row := range []struct {
		name     string
		csr      []byte
		id       string
		validity time.Duration
	}{
		{"an id with a dot", good, "rackboot.hub", time.Hour},
		{"a wildcard as id", good, "*", time.Hour},
		{"no id", good, "", time.Hour},
		{"no validity", good, "rack-1", 0},
		{"a negative validity", good, "rack-1", -time.Hour},
		{"a validity of years", good, "rack-1", MaxAgentValidity + time.Hour},
		{"nothing", nil, "rack-1", time.Hour},
		{"not PEM", block.Bytes, "rack-1", time.Hour},
		{"two requests", append(append([]byte{}, good...), good...), "rack-1", time.Hour},
		{"a certificate", p.CAPEM(), "rack-1", time.Hour},
		{"a bad signature", pem.EncodeToMemory(&pem.Block{Type: blockRequest, Bytes: forged}), "rack-1", time.Hour},
		{"an RSA key", request(t, rsaKey, &x509.CertificateRequest{}), "rack-1", time.Hour},
		{"a P-384 key", request(t, ecKey(t, elliptic.P384()), &x509.CertificateRequest{}), "rack-1", time.Hour},
		{"too large", append(append([]byte{}, good...), make([]byte, maxRequest)...), "rack-1", time.Hour},
	} {
		t.Run(row.name, func(t *testing.T) {
			out, err := p.IssueAgent(row.csr, row.id, row.validity)
			if out != nil || protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Errorf("%s, %v", out, err)
			}
		})
	}
}

func TestAgentCertificateEndsWithTheAuthority(t *testing.T) {
	now := testTime()
	p, err := open(filepath.Join(t.TempDir(), "pki"), nil, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	now = p.ca.cert.NotAfter.Add(-time.Hour)
	out, err := p.IssueAgent(request(t, edKey(), &x509.CertificateRequest{}), "rack-1", 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(out)
	if c, err := x509.ParseCertificate(block.Bytes); err != nil || !c.NotAfter.Equal(p.ca.cert.NotAfter) {
		t.Errorf("valid until %s (%v)", c.NotAfter, err)
	}
}

// The three configurations meet each other.
func TestHandshakes(t *testing.T) {
	p, err := Open(filepath.Join(t.TempDir(), "pki"), []string{"hub.example"})
	if err != nil {
		t.Fatal(err)
	}
	anonymous := &tls.Config{RootCAs: p.pool()}
	for _, row := range []struct {
		name           string
		server, client *tls.Config
		host, peer     string
		ok             bool
	}{
		{"hub to its broker", p.BrokerTLS(), p.ClientTLS(), "127.0.0.1", HubIdentity, true},
		{"hub to its broker by name", p.BrokerTLS(), p.ClientTLS(), "hub.example", HubIdentity, true},
		{"rackctl to the API", p.ServerTLS(), anonymous, "hub.example", "", true},
		{"anybody to the broker", p.BrokerTLS(), anonymous, "hub.example", "", false},
		{"another name", p.ServerTLS(), anonymous, "other.example", "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			near, far := memnet.Pipe("client", "hub")
			defer near.Close()
			defer far.Close()
			client := row.client.Clone()
			client.ServerName = row.host
			server := tls.Server(far, row.server)
			result := make(chan error, 1)
			go func() {
				err := server.Handshake()
				if err == nil {
					_, err = server.Write([]byte("x"))
				}
				_ = far.Close()
				result <- err
			}()
			_, err := io.ReadFull(tls.Client(near, client), make([]byte, 1))
			_ = near.Close()
			serverErr := <-result
			if (err == nil && serverErr == nil) != row.ok {
				t.Fatalf("client %v, server %v", err, serverErr)
			}
			peers := server.ConnectionState().PeerCertificates
			if row.ok && row.peer != "" && (len(peers) == 0 || peers[0].Subject.CommonName != row.peer) {
				t.Errorf("the server sees %v", peers)
			}
		})
	}
}

// FuzzIssueAgent feeds what anybody with a join token may send.
func FuzzIssueAgent(f *testing.F) {
	p, err := Open(filepath.Join(f.TempDir(), "pki"), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(request(f, edKey(), &x509.CertificateRequest{}))
	f.Add(request(f, ecKey(f, elliptic.P256()), &x509.CertificateRequest{DNSNames: []string{"a.example"}}))
	f.Add([]byte("-----BEGIN CERTIFICATE REQUEST-----\nMA==\n-----END CERTIFICATE REQUEST-----\n"))
	f.Fuzz(func(t *testing.T, csr []byte) {
		out, err := p.IssueAgent(csr, "rack-1", time.Hour)
		if err != nil {
			if protocol.CodeOf(err) != protocol.CodeInvalid || out != nil {
				t.Fatal(err)
			}
			return
		}
		block, _ := pem.Decode(out)
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil || c.Subject.String() != "CN=rack-1" || c.IsCA || len(c.DNSNames) != 0 {
			t.Fatalf("%v, %v", c, err)
		}
	})
}
