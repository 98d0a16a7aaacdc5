package httpboot

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/netboot"
	"rackboot/netboot/bootcert"
)

// pki is an authority and certificates for loopback, made once for all tests: an RSA
// key takes a second.
type pki struct {
	roots *x509.CertPool
	certs map[netboot.KeyKind]*tls.Certificate
	pem   []byte
}

func (p pki) Certificate(kind netboot.KeyKind) *tls.Certificate { return p.certs[kind] }

var testPKI = sync.OnceValue(func() pki {
	authority, err := bootcert.NewAuthority(time.Now())
	if err != nil {
		panic(err)
	}
	names := bootcert.Names{Addrs: []netip.Addr{netip.MustParseAddr("127.0.0.1")}, DNS: []string{"boot.example"}}
	p := pki{roots: x509.NewCertPool(), certs: map[netboot.KeyKind]*tls.Certificate{}}
	p.roots.AddCert(authority.Certificate())
	p.pem = pemOf(authority.Certificate())
	for _, kind := range []netboot.KeyKind{netboot.KeyECDSA, netboot.KeyRSA} {
		pair, err := authority.Issue(kind, names, time.Now())
		if err != nil {
			panic(err)
		}
		p.certs[kind] = pair.TLS()
	}
	return p
})

func withTLS(c *Config) { c.Certificates = testPKI() }

// TestHandshakes: real handshakes of clients as firmware builds them, each of which
// verifies the server by its address.
func TestHandshakes(t *testing.T) {
	only := func(kinds ...netboot.KeyKind) netboot.Certificates {
		p := pki{certs: map[netboot.KeyKind]*tls.Certificate{}}
		for _, k := range kinds {
			p.certs[k] = testPKI().certs[k]
		}
		return p
	}
	both := only(netboot.KeyECDSA, netboot.KeyRSA)
	for _, row := range []struct {
		name     string
		certs    netboot.Certificates
		client   *tls.Config
		suite    uint16 // zero for any of TLS 1.3
		exchange string // empty: the handshake fails
		key      netboot.KeyKind
	}{
		{"EDK2 without elliptic curves, 009c", both, &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_128_GCM_SHA256}}, tls.TLS_RSA_WITH_AES_128_GCM_SHA256, "rsa", netboot.KeyRSA},
		{"EDK2 without elliptic curves, 009d", both, &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_256_GCM_SHA384}}, tls.TLS_RSA_WITH_AES_256_GCM_SHA384, "rsa", netboot.KeyRSA},
		{"new EDK2, X25519", both, &tls.Config{CurvePreferences: []tls.CurveID{tls.X25519}}, 0, "tls13", netboot.KeyECDSA},
		{"new EDK2, P-256", both, &tls.Config{CurvePreferences: []tls.CurveID{tls.CurveP256}}, 0, "tls13", netboot.KeyECDSA},
		{"new EDK2 at TLS 1.2, X25519 and P-256", both, &tls.Config{MaxVersion: tls.VersionTLS12, CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256}}, tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, "ecdhe", netboot.KeyECDSA},
		{"ECDHE with RSA only", both, &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384}}, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, "ecdhe", netboot.KeyRSA},
		{"who offers both exchanges gets ECDHE", both, &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}}, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, "ecdhe", netboot.KeyRSA},
		{"the RSA certificate alone serves new EDK2", only(netboot.KeyRSA), &tls.Config{}, 0, "tls13", netboot.KeyRSA},
		{"the ECDSA certificate alone does not serve old EDK2", only(netboot.KeyECDSA), &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_256_GCM_SHA384}}, 0, "", ""},
		{"no certificate", only(), &tls.Config{}, 0, "", ""},
		{"CBC only", both, &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA}}, 0, "", ""},
		{"TLS 1.1", both, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, 0, "", ""},
		{"HTTP/2 alone is asked for, and HTTP/1.1 spoken", both, &tls.Config{NextProtos: []string{"h2"}}, 0, "tls13", netboot.KeyECDSA},
		{"HTTP/2 is not offered", both, &tls.Config{NextProtos: []string{"h2", "http/1.1"}}, 0, "tls13", netboot.KeyECDSA},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := start(t, func(c *Config) { c.Certificates = row.certs })
			row.client.RootCAs = testPKI().roots
			conn, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", w.addr, row.client)
			if row.exchange == "" {
				if err == nil {
					conn.Close()
					t.Fatal("it succeeded")
				}
				if _, ok := errors.AsType[*net.OpError](err); !ok || !strings.Contains(err.Error(), "remote error: tls:") {
					t.Errorf("the client hears %v, not an alert", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, "HEAD /b/"+token+"/small.efi HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(conn)
			if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200 OK\r\n") || !strings.Contains(string(answer), "\r\nContent-Length: 2\r\n") {
				t.Errorf("answer %q, %v", answer, err)
			}
			state := conn.ConnectionState()
			if row.suite != 0 && state.CipherSuite != row.suite {
				t.Errorf("suite %s", tls.CipherSuiteName(state.CipherSuite))
			}
			kind := netboot.KeyRSA
			switch key := state.PeerCertificates[0].PublicKey.(type) {
			case *ecdsa.PublicKey:
				kind = netboot.KeyECDSA
			case *rsa.PublicKey:
				if key.N.BitLen() < 3072 {
					t.Errorf("RSA-%d, which new EDK2 refuses", key.N.BitLen())
				}
			}
			if kind != row.key || exchange(state) != row.exchange {
				t.Errorf("certificate %s, exchange %s", kind, exchange(state))
			}
			if state.NegotiatedProtocol == "h2" {
				t.Error("HTTP/2")
			}
			w.stop()
			if n := testutil.ToFloat64(w.server.metrics.handshakes.WithLabelValues(row.exchange)); n != 1 {
				t.Errorf("%v handshakes counted", n)
			}
		})
	}
}

// TestCertificateChanges: the next handshake has the new certificate, and what is
// open stays open.
func TestCertificateChanges(t *testing.T) {
	certs := &swapped{now: testPKI().certs[netboot.KeyECDSA]}
	w := start(t, func(c *Config) { c.Certificates = certs })
	dial := func() (conn *tls.Conn, shown string) {
		conn, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", w.addr, &tls.Config{RootCAs: testPKI().roots})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn, fmt.Sprintf("%T", conn.ConnectionState().PeerCertificates[0].PublicKey)
	}
	open, first := dial()
	served := func() {
		t.Helper()
		if resp := ask(t, open, "HEAD", "/b/"+token+"/small.efi"); resp == nil || resp.StatusCode != http.StatusOK {
			t.Errorf("answer %+v", resp)
		}
	}
	served()
	certs.set(testPKI().certs[netboot.KeyRSA])
	served()
	if _, next := dial(); next == first {
		t.Errorf("the next connection has still %s", next)
	}
}

type swapped struct {
	mu  sync.Mutex
	now *tls.Certificate
}

func (s *swapped) set(c *tls.Certificate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = c
}

func (s *swapped) Certificate(kind netboot.KeyKind) *tls.Certificate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.now.PrivateKey.(*rsa.PrivateKey); ok == (kind == netboot.KeyRSA) {
		return s.now
	}
	return nil
}

func pemOf(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}
