package rack

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/netboot"
	"rackboot/protocol/resource"
)

// oneCertificate is all that an HTTPS listener has.
type oneCertificate struct{ of tls.Certificate }

// Certificate implements netboot.Certificates.
func (c oneCertificate) Certificate(kind netboot.KeyKind) *tls.Certificate {
	if kind != netboot.KeyECDSA {
		return nil
	}
	return &c.of
}

// certificateFor is a certificate of an address that is its own authority.
func certificateFor(t *testing.T, ip net.IP) (oneCertificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{ip},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return oneCertificate{tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}}, roots
}

// TestBootEnvHTTPS: a segment with https boot URLs. Firmware that trusts the authority installs
// an environment through the HTTPS listener, and reports there; nothing that is rendered for
// it names another URL.
func TestBootEnvHTTPS(t *testing.T) {
	t.Parallel()
	roots := x509.NewCertPool()
	b := newBenchOf(t, t.TempDir(), 1, bmcsim.Plain(), func(c *sim.ServerConfig) { c.Roots = roots })
	free, err := sim.FreeAddresses(b.ip, 1)
	if err != nil {
		t.Fatal(err)
	}
	b.https = free[0]
	certs, own := certificateFor(t, net.IP(b.https.Addr().AsSlice()))
	b.certs = certs
	*roots = *own
	base := "https://" + b.https.String()
	b.change = func(s *resource.SegmentIntent) { s.BaseURL = base }
	const uki = "MZ a unified kernel image of the environment"
	bundle := b.debian(0, b.upload("demo.zip", map[string]string{"EFI/Linux.efi": uki}))
	bundle.Spec.OS.SupportedArchitectures = map[string]resource.EnvArch{"amd64": {IsoFile: "demo.zip", UKI: "EFI/Linux.efi"}}
	b.claimEnv(0, bundle)
	a, _ := b.start(nil)
	b.send(a)
	r := b.until("the disk boot after the installation", 0, diskBoot)
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(uki))); b.servers[0].Disk.Digest() != want || len(r.Provisioned) == 0 || r.Env == nil {
		t.Errorf("installed %s, not %s", b.servers[0].Disk.Digest(), want)
	}
	if !strings.HasPrefix(b.servers[0].Boots.LastURL(), base+"/b/") {
		t.Errorf("firmware loaded %s, not by %s", b.servers[0].Boots.LastURL(), base)
	}
}
