package bootcert

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
)

// TestCheck: one row for each reason why firmware refuses a certificate, or may.
func TestCheck(t *testing.T) {
	authority, pairs := testPairs()
	now := testTime()
	root := []*x509.Certificate{authority.Certificate()}
	rsaKey := pairs[netboot.KeyRSA].Key
	ecKey := func(curve elliptic.Curve) crypto.Signer {
		k, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	p256 := ecKey(elliptic.P256())
	rsa2048, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	// An ECDSA authority, to show who cannot verify it.
	template := &x509.Certificate{NotBefore: now, NotAfter: now.Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	ecCert, err := sign(template, template, p256.Public(), p256)
	if err != nil {
		t.Fatal(err)
	}
	ecAuthority := &Authority{cert: ecCert, key: p256}

	type change func(*x509.Certificate)
	for _, row := range []struct {
		name   string
		kind   netboot.KeyKind
		key    crypto.Signer
		by     *Authority
		roots  []*x509.Certificate
		change change
		want   string // of the only problem; empty for none
	}{
		{"RSA-3072", netboot.KeyRSA, rsaKey, authority, root, nil, ""},
		{"P-256", netboot.KeyECDSA, p256, authority, root, nil, ""},
		{"P-384", netboot.KeyECDSA, ecKey(elliptic.P384()), authority, root, nil, ""},
		{"no authority to check against", netboot.KeyRSA, rsaKey, authority, nil, nil, ""},
		{"RSA-2048 (edk2 12651)", netboot.KeyRSA, rsa2048, authority, root, nil, "2048 bits"},
		{"P-224", netboot.KeyECDSA, ecKey(elliptic.P224()), authority, root, nil, "curve P-224"},
		{"P-521", netboot.KeyECDSA, ecKey(elliptic.P521()), authority, root, nil, "curve P-521"},
		{"RSA in the place of ECDSA", netboot.KeyECDSA, rsaKey, authority, root, func(c *x509.Certificate) { c.KeyUsage = 0 }, "its key is RSA-3072"},
		{"ended", netboot.KeyRSA, rsaKey, authority, root, func(c *x509.Certificate) { c.NotAfter = now }, "ended on"},
		{"not yet", netboot.KeyRSA, rsaKey, authority, root, func(c *x509.Certificate) { c.NotBefore = now.Add(time.Second) }, "valid from"},
		{"without the address (IP SAN needed)", netboot.KeyRSA, rsaKey, authority, root, func(c *x509.Certificate) { c.IPAddresses = nil }, "not for the address 10.7.0.1"},
		{"the address as a name", netboot.KeyRSA, rsaKey, authority, root, func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, append(c.DNSNames, "10.7.0.1") }, "not for the address"},
		{"another address", netboot.KeyRSA, rsaKey, authority, root, func(c *x509.Certificate) { c.IPAddresses = []net.IP{{10, 7, 0, 2}} }, "not for the address"},
		{"without the name", netboot.KeyRSA, rsaKey, authority, root, func(c *x509.Certificate) { c.DNSNames = nil }, "not for the name boot.example"},
		{"a wildcard only (edk2 9894)", netboot.KeyRSA, rsaKey, authority, root, func(c *x509.Certificate) { c.DNSNames = []string{"*.example"} }, "by a wildcard only"},
		{"the name in capitals, and a wildcard beside it", netboot.KeyRSA, rsaKey, authority, root, func(c *x509.Certificate) { c.DNSNames = []string{"*.example", "BOOT.example"} }, ""},
		{"for clients", netboot.KeyRSA, rsaKey, authority, root, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }, "not for servers"},
		{"for everything", netboot.KeyRSA, rsaKey, authority, root, func(c *x509.Certificate) { c.ExtKeyUsage, c.KeyUsage = nil, 0 }, ""},
		{"RSA that may not encrypt", netboot.KeyRSA, rsaKey, authority, root, func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageDigitalSignature }, "may not encrypt keys"},
		{"ECDSA that may not sign", netboot.KeyECDSA, p256, authority, root, func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyAgreement }, "may not sign"},
		{"another authority", netboot.KeyECDSA, p256, ecAuthority, root, nil, "does not lead to the authority"},
		{"an ECDSA authority over RSA (measured: OVMF 2022.11)", netboot.KeyRSA, rsaKey, ecAuthority, nil, nil, "cannot verify"},
		{"an ECDSA authority over ECDSA", netboot.KeyECDSA, p256, ecAuthority, []*x509.Certificate{ecCert}, nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			usage := x509.KeyUsageDigitalSignature
			if row.kind == netboot.KeyRSA {
				usage |= x509.KeyUsageKeyEncipherment
			}
			template := &x509.Certificate{
				NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), KeyUsage: usage, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
				IPAddresses: testNames().ips(), DNSNames: testNames().DNS,
			}
			if row.change != nil {
				row.change(template)
			}
			cert, err := sign(template, row.by.cert, row.key.Public(), row.by.key)
			if err != nil {
				t.Fatal(err)
			}
			problems := Check(row.kind, Pair{Chain: []*x509.Certificate{cert}, Key: row.key}, testNames(), row.roots, now)
			if row.want == "" {
				if len(problems) != 0 {
					t.Errorf("%v", problems)
				}
				return
			}
			if len(problems) != 1 || !strings.Contains(problems[0].Error(), row.want) {
				t.Fatalf("%v, want one with %q", problems, row.want)
			}
			if protocol.CodeOf(problems[0]) != protocol.CodeInvalid || protocol.HintOf(problems[0]) == "" {
				t.Errorf("code %s, hint %q", protocol.CodeOf(problems[0]), protocol.HintOf(problems[0]))
			}
		})
	}
	if problems := Check(netboot.KeyECDSA, Pair{Chain: []*x509.Certificate{{PublicKey: ed.Public()}}, Key: ed}, Names{}, nil, now); len(problems) < 2 {
		t.Errorf("Ed25519: %v", problems)
	}
}

func TestParseNames(t *testing.T) {
	for _, row := range []struct {
		hosts string
		want  string // empty for an error
	}{
		{"10.7.0.1", "10.7.0.1"},
		{"boot.example 10.7.0.2 10.7.0.1 10.7.0.1", "10.7.0.1 10.7.0.2 boot.example"},
		{"::ffff:10.7.0.1 FD00::1 Boot", "10.7.0.1 fd00::1 boot"},
		{"", ""},
		{"boot.example", ""},
		{"10.7.0.1 *.example", ""},
		{"10.7.0.1 -a.example", ""},
		{"10.7.0.1 a..b", ""},
		{"10.7.0.1 http://x", ""},
		{"0.0.0.0", ""},
		{"224.0.0.1", ""},
		{"fe80::1%eth0", ""},
	} {
		n, err := ParseNames(strings.Fields(row.hosts))
		if (err == nil) != (row.want != "") || (err == nil && strings.Join(n.List(), " ") != row.want) {
			t.Errorf("%q: %v, %v", row.hosts, n.List(), err)
		}
		if err != nil && protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%q: %v", row.hosts, err)
		}
	}
}

func TestIssue(t *testing.T) {
	authority, pairs := testPairs()
	for kind, p := range pairs {
		if problems := Check(kind, p, testNames(), []*x509.Certificate{authority.Certificate()}, testTime()); len(problems) > 0 {
			t.Errorf("%s: %v", kind, problems)
		}
		// Firmware clocks may be in local time: 14 hours off.
		if problems := Check(kind, p, testNames(), nil, testTime().Add(-14*time.Hour)); len(problems) > 0 {
			t.Errorf("%s: %v", kind, problems)
		}
		if Due(p.Leaf(), testTime()) || !Due(p.Leaf(), testTime().Add(leafValidity-renewBefore)) {
			t.Errorf("%s is renewed at another time", kind)
		}
	}
	late := authority.Certificate().NotAfter.Add(-time.Hour)
	if p, err := authority.Issue(netboot.KeyECDSA, testNames(), late); err != nil || p.Leaf().NotAfter.After(authority.Certificate().NotAfter) {
		t.Errorf("it outlives its authority (%v)", err)
	}
	for _, row := range []struct {
		kind  netboot.KeyKind
		names Names
		now   time.Time
		want  protocol.Code
	}{
		{netboot.KeyECDSA, testNames(), authority.Certificate().NotAfter, protocol.CodeConflict},
		{"dsa", testNames(), testTime(), protocol.CodeInvalid},
		{netboot.KeyECDSA, Names{DNS: []string{"boot"}}, testTime(), protocol.CodeInvalid},
		{netboot.KeyECDSA, Names{Addrs: []netip.Addr{{}}}, testTime(), protocol.CodeInvalid},
	} {
		if _, err := authority.Issue(row.kind, row.names, row.now); protocol.CodeOf(err) != row.want {
			t.Errorf("%s %v %s: %v", row.kind, row.names, row.now, err)
		}
	}
}
