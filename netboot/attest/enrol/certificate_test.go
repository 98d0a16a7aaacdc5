package enrol

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-tpm/tpm2"

	"rackboot/netboot/attest/tpmkey"
)

// maker makes certificates of TPMs.
type maker struct {
	t      testing.TB
	now    time.Time
	key    *ecdsa.PrivateKey
	cert   *x509.Certificate
	rsa    *rsa.PrivateKey
	public *tpmkey.Key // of rsa, as an endorsement key
}

func newMaker(t testing.TB) *maker {
	t.Helper()
	m := &maker{t: t, now: time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)}
	var err error
	if m.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	if m.rsa, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	m.cert = m.parse(m.sign(&x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "maker"}, NotBefore: m.now.Add(-time.Hour), NotAfter: m.now.Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, m.key.Public()))
	area := tpm2.RSAEKTemplate
	area.Unique = tpm2.NewTPMUPublicID(tpm2.TPMAlgRSA, &tpm2.TPM2BPublicKeyRSA{Buffer: m.rsa.N.Bytes()})
	var fault Fault
	if m.public, fault = EndorsementKey(tpm2.Marshal(area)); fault != NoFault {
		t.Fatal(fault)
	}
	return m
}

func (m *maker) sign(template, parent *x509.Certificate, public crypto.PublicKey) []byte {
	m.t.Helper()
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, m.key)
	if err != nil {
		m.t.Fatal(err)
	}
	return der
}

func (m *maker) parse(der []byte) *x509.Certificate {
	m.t.Helper()
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		m.t.Fatal(err)
	}
	return cert
}

// certificate is one of the endorsement key, as the profile has it; change makes it another.
func (m *maker) certificate(change func(*x509.Certificate)) []byte {
	m.t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: m.now.Add(-time.Hour), NotAfter: m.now.Add(time.Hour),
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageKeyEncipherment, UnknownExtKeyUsage: []asn1.ObjectIdentifier{oidEndorsement()},
		ExtraExtensions: []pkix.Extension{{Id: oidAlternativeName(), Critical: true, Value: names(m.t, oidManufacturer())}},
	}
	change(template)
	return m.sign(template, m.cert, m.rsa.Public())
}

// names are a subject's alternative names with a directory name of one attribute.
func names(t testing.TB, attribute asn1.ObjectIdentifier) []byte {
	t.Helper()
	marshal := func(v any, params string) []byte {
		der, err := asn1.MarshalWithParams(v, params)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	rdn := marshal([]pkix.RelativeDistinguishedNameSET{{{Type: attribute, Value: "id:52424F54"}}}, "")
	inner := marshal(asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: directoryTag, IsCompound: true, Bytes: rdn}, "")
	return marshal(asn1.RawValue{Class: asn1.ClassUniversal, Tag: asn1.TagSequence, IsCompound: true, Bytes: inner}, "")
}

// forOAEP is the certificate with its key called one for OAEP only, signed again.
func (m *maker) forOAEP(der []byte) []byte {
	m.t.Helper()
	var c struct {
		TBS       asn1.RawValue
		Algorithm pkix.AlgorithmIdentifier
		Signature asn1.BitString
	}
	if _, err := asn1.Unmarshal(der, &c); err != nil {
		m.t.Fatal(err)
	}
	plain := []byte("\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01")
	if bytes.Count(c.TBS.FullBytes, plain) != 1 {
		m.t.Fatal("the certificate does not name its key's algorithm once")
	}
	c.TBS = asn1.RawValue{FullBytes: bytes.Replace(c.TBS.FullBytes, plain, []byte("\x2a\x86\x48\x86\xf7\x0d\x01\x01\x07"), 1)}
	digest := sha256.Sum256(c.TBS.FullBytes)
	signature, err := m.key.Sign(rand.Reader, digest[:], crypto.SHA256)
	if err != nil {
		m.t.Fatal(err)
	}
	c.Signature = asn1.BitString{Bytes: signature, BitLength: 8 * len(signature)}
	out, err := asn1.Marshal(c)
	if err != nil {
		m.t.Fatal(err)
	}
	return out
}

// Forms in which makers write certificates of TPMs, and what is none of one.
func TestCertificate(t *testing.T) {
	m, other := newMaker(t), newMaker(t)
	given := Authorities{Roots: []*x509.Certificate{m.cert}}
	as := func(change func(*x509.Certificate)) []byte { return m.certificate(change) }
	plain := as(func(*x509.Certificate) {})
	for _, c := range []struct {
		name string
		der  []byte
		by   Authorities
		now  time.Time
		want Origin
	}{
		{"as the profile has it", plain, given, m.now, Vouched},
		{"of a key for OAEP only", m.forOAEP(plain), given, m.now, Vouched},
		{"of the first profiles, without a use", as(func(c *x509.Certificate) { c.UnknownExtKeyUsage = nil }), given, m.now, Vouched},
		{"ones behind it", append(bytes.Clone(plain), 0xff, 0xff), given, m.now, Vouched},
		{"of a web server", as(func(c *x509.Certificate) {
			c.UnknownExtKeyUsage, c.ExtKeyUsage = nil, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		}), given, m.now, BadCertificate},
		{"of an authority", as(func(c *x509.Certificate) { c.IsCA = true }), given, m.now, BadCertificate},
		{"a critical name of nobody's TPM", as(func(c *x509.Certificate) {
			c.ExtraExtensions = []pkix.Extension{{Id: oidAlternativeName(), Critical: true, Value: names(t, asn1.ObjectIdentifier{2, 5, 4, 3})}}
		}), given, m.now, OtherAuthority},
		{"a critical extension that nobody knows", as(func(c *x509.Certificate) {
			c.ExtraExtensions = append(c.ExtraExtensions, pkix.Extension{Id: asn1.ObjectIdentifier{1, 2, 3}, Critical: true, Value: []byte{5, 0}})
		}), given, m.now, OtherAuthority},
		{"over", plain, given, m.now.Add(2 * time.Hour), Expired},
		{"over, without an authority", plain, Authorities{}, m.now.Add(2 * time.Hour), Expired},
		{"its authority is over", as(func(c *x509.Certificate) { c.NotAfter = m.now.Add(time.Hour * 24) }), given, m.now.Add(2 * time.Hour), Expired},
		{"without an authority", plain, Authorities{}, m.now, NoAuthority},
		{"of another authority of the same name", plain, Authorities{Roots: []*x509.Certificate{other.cert}}, m.now, OtherAuthority},
		{"signed by itself", other.sign(&x509.Certificate{SerialNumber: big.NewInt(3), NotBefore: m.now.Add(-time.Hour), NotAfter: m.now.Add(time.Hour)}, nil, m.rsa.Public()), given, m.now, OtherAuthority},
		{"of another TPM", other.certificate(func(*x509.Certificate) {}), Authorities{Roots: []*x509.Certificate{other.cert}}, m.now, OtherKey},
		{"none", nil, given, m.now, NoCertificate},
		{"no certificate", []byte("PEM"), given, m.now, BadCertificate},
		{"too long", make([]byte, maxCertificate+1), given, m.now, BadCertificate},
	} {
		got := Certificate(m.public, c.der, c.by, c.now)
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if refused := got != Vouched && got != NoAuthority && got != NoCertificate; got.Refused() != refused {
			t.Errorf("%s: refused is %v", c.name, got.Refused())
		}
	}
}

// A key of a curve is told from another one by its point.
func TestCertificateOfCurve(t *testing.T) {
	m := newMaker(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	area := tpm2.ECCEKTemplate
	area.Unique = tpm2.NewTPMUPublicID(tpm2.TPMAlgECC, &tpm2.TPMSECCPoint{X: tpm2.TPM2BECCParameter{Buffer: point[1:33]}, Y: tpm2.TPM2BECCParameter{Buffer: point[33:]}})
	public, fault := EndorsementKey(tpm2.Marshal(area))
	if fault != NoFault {
		t.Fatal(fault)
	}
	template := m.parse(m.certificate(func(*x509.Certificate) {}))
	template.ExtraExtensions = []pkix.Extension{{Id: oidAlternativeName(), Critical: true, Value: names(t, oidManufacturer())}}
	given := Authorities{Roots: []*x509.Certificate{m.cert}}
	for want, of := range map[Origin]crypto.PublicKey{Vouched: key.Public(), OtherKey: m.key.Public()} {
		if got := Certificate(public, m.sign(template, m.cert, of), given, m.now); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// FuzzCertificate: no certificate makes it fail, and none is vouched for that was not signed here.
func FuzzCertificate(f *testing.F) {
	m := newMaker(f)
	good := map[string]bool{}
	for _, der := range [][]byte{m.certificate(func(*x509.Certificate) {}), m.forOAEP(m.certificate(func(*x509.Certificate) {})), m.cert.Raw} {
		good[string(der)] = true
		f.Add(der)
	}
	given := Authorities{Roots: []*x509.Certificate{m.cert}}
	f.Fuzz(func(t *testing.T, der []byte) {
		if Certificate(m.public, der, given, m.now) != Vouched {
			return
		}
		var outer asn1.RawValue
		if _, err := asn1.Unmarshal(der, &outer); err != nil || !good[string(outer.FullBytes)] {
			t.Errorf("%x is vouched for", der)
		}
	})
}
