package bootcert

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
)

const (
	rsaBits = 3072 // EDK2 since 2025 wants 128 bits of security (OpenSSL level 3)

	caName = "Rackboot boot CA"
	// caValidity is long, because enrolling another one touches every server.
	caValidity = 20 * 365 * 24 * time.Hour
	// leafValidity is below the 398 days that TLS clients have come to bound.
	leafValidity = 365 * 24 * time.Hour
	// renewBefore is when a certificate is made anew: early enough that a rack may be
	// left alone for months.
	renewBefore = leafValidity / 3
	// backdate is for firmware clocks: UEFI time may be local time without a zone, up to
	// 14 hours off.
	backdate = 48 * time.Hour
)

// Authority signs the certificates of HTTPS boot. Whoever has its key can stand in
// for any HTTPS server towards firmware that trusts it.
type Authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// NewAuthority makes an authority with a new key, valid for 20 years. It takes up to
// a few seconds of CPU time.
func NewAuthority(now time.Time) (*Authority, error) { return newAuthority(now, newKey) }

// keySource makes a key of a kind.
type keySource func(netboot.KeyKind) (crypto.Signer, error)

// newKey takes up to a few seconds for RSA.
func newKey(kind netboot.KeyKind) (crypto.Signer, error) {
	if kind == netboot.KeyRSA {
		return rsa.GenerateKey(rand.Reader, rsaBits)
	}
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

func newAuthority(now time.Time, source keySource) (*Authority, error) {
	key, err := source(netboot.KeyRSA)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "make boot CA", "%w", err)
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: caName},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(caValidity),
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	cert, err := sign(template, template, key.Public(), key)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "make boot CA", "%w", err)
	}
	return &Authority{cert: cert, key: key}, nil
}

// Certificate is what firmware has to trust.
func (a *Authority) Certificate() *x509.Certificate { return a.cert }

// Issue makes a key of the kind and a certificate for it, valid for a year and no
// longer than the authority. Errors: invalid for the names or the kind, conflict
// if the authority has ended.
func (a *Authority) Issue(kind netboot.KeyKind, names Names, now time.Time) (Pair, error) {
	return a.issue(kind, names, now, newKey)
}

func (a *Authority) issue(kind netboot.KeyKind, names Names, now time.Time, source keySource) (Pair, error) {
	const op = "issue boot certificate"
	if err := names.validate(); err != nil {
		return Pair{}, err
	}
	end := now.Add(leafValidity)
	if a.cert.NotAfter.Before(end) {
		end = a.cert.NotAfter
	}
	if !now.Before(end) {
		return Pair{}, protocol.Errorf(protocol.CodeConflict, op, "the boot CA ended on %s", end.Format(time.DateOnly)).
			WithHint("make a new folder with rackctl boot-cert make, and enrol its CA in the firmware of every server")
	}
	usage := x509.KeyUsageDigitalSignature
	switch kind {
	case netboot.KeyECDSA:
	case netboot.KeyRSA:
		usage |= x509.KeyUsageKeyEncipherment // for RSA key exchange
	default:
		return Pair{}, protocol.Errorf(protocol.CodeInvalid, op, "%q is no kind of key", kind)
	}
	key, err := source(kind)
	if err != nil {
		return Pair{}, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	cert, err := sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: names.List()[0]},
		NotBefore:   now.Add(-backdate),
		NotAfter:    end,
		KeyUsage:    usage,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: names.ips(),
		DNSNames:    names.DNS,
	}, a.cert, key.Public(), a.key)
	if err != nil {
		return Pair{}, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	return Pair{Chain: []*x509.Certificate{cert}, Key: key}, nil
}

// issued says whether the authority has signed a certificate.
func (a *Authority) issued(c *x509.Certificate) bool { return c.CheckSignatureFrom(a.cert) == nil }

func sign(template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// Due says whether it is time to replace a certificate.
func Due(c *x509.Certificate, now time.Time) bool { return !now.Before(RenewFrom(c)) }
