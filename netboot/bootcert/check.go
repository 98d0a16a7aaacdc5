package bootcert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"slices"
	"strconv"
	"strings"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
)

// maxRSABits bounds the time that a handshake takes.
const maxRSABits = 8192

// Check returns all reasons why a pair does not serve firmware by these names now;
// each is an invalid *protocol.Error that says what to do. roots are the authorities
// that firmware trusts; without any, the signature is not looked at.
func Check(kind netboot.KeyKind, p Pair, names Names, roots []*x509.Certificate, now time.Time) []error {
	c := checker{op: "check boot certificate " + string(kind)}
	leaf := p.Leaf()
	if p.Kind() != kind {
		c.bad("make a key of the other kind, or put it under the other name", "its key is %s", KeyName(leaf))
	}
	for i, x := range p.Chain {
		which := "certificate " + strconv.Itoa(i+1)
		c.strength(which, x)
		c.signature(which, x)
		c.dates(which, x, now)
	}
	c.usage(leaf)
	c.names(leaf, names)
	c.chain(p, roots, now)
	return c.problems
}

type checker struct {
	op       string
	problems []error
}

func (c *checker) bad(hint, format string, args ...any) {
	c.problems = append(c.problems, protocol.Errorf(protocol.CodeInvalid, c.op, format, args...).WithHint("%s", hint))
}

// strength refuses what firmware refuses: OpenSSL at security level 3.
func (c *checker) strength(which string, x *x509.Certificate) {
	const hint = "use ECDSA P-256 or P-384, or RSA of 3072 bits or more; recent firmware refuses less"
	switch k := x.PublicKey.(type) {
	case *rsa.PublicKey:
		if n := k.N.BitLen(); n < rsaBits || n > maxRSABits {
			c.bad(hint, "the RSA key of %s has %d bits, not %d to %d", which, n, rsaBits, maxRSABits)
		}
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() && k.Curve != elliptic.P384() {
			c.bad(hint, "the key of %s is on the curve %s", which, k.Params().Name)
		}
	default:
		c.bad(hint, "the key of %s is neither RSA nor ECDSA", which)
	}
}

// signature refuses weak hashes, where OpenSSL at security level 3 does.
func (c *checker) signature(which string, x *x509.Certificate) {
	switch x.SignatureAlgorithm {
	case x509.SHA256WithRSA, x509.SHA384WithRSA, x509.SHA512WithRSA, x509.SHA256WithRSAPSS, x509.SHA384WithRSAPSS, x509.SHA512WithRSAPSS,
		x509.ECDSAWithSHA256, x509.ECDSAWithSHA384, x509.ECDSAWithSHA512:
	default:
		c.bad("have it signed with SHA-256", "%s is signed by %s", which, x.SignatureAlgorithm)
	}
}

func (c *checker) dates(which string, x *x509.Certificate, now time.Time) {
	if now.Before(x.NotBefore) {
		c.bad("check the clock of this host", "%s is valid from %s only", which, x.NotBefore.Format(time.RFC3339))
	}
	if !now.Before(x.NotAfter) {
		c.bad("replace it", "%s ended on %s", which, x.NotAfter.Format(time.RFC3339))
	}
}

func (c *checker) usage(leaf *x509.Certificate) {
	if len(leaf.ExtKeyUsage)+len(leaf.UnknownExtKeyUsage) > 0 &&
		!slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageServerAuth) && !slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageAny) {
		c.bad("issue it for server authentication (extendedKeyUsage serverAuth)", "it is not for servers")
	}
	if leaf.KeyUsage == 0 {
		return // may be used for anything
	}
	if leaf.KeyUsage&x509.KeyUsageDigitalSignature == 0 {
		c.bad("issue it with keyUsage digitalSignature", "its key may not sign handshakes")
	}
	if _, ok := leaf.PublicKey.(*rsa.PublicKey); ok && leaf.KeyUsage&x509.KeyUsageKeyEncipherment == 0 {
		c.bad("issue it with keyUsage keyEncipherment; firmware without elliptic curves uses RSA key exchange", "its key may not encrypt keys")
	}
}

func (c *checker) names(leaf *x509.Certificate, want Names) {
	has := NamesOf(leaf)
	for _, a := range want.Addrs {
		if !slices.Contains(has.Addrs, a) {
			c.bad("issue it with subjectAltName iPAddress; firmware boots from the address and reads no common name", "it is not for the address %s", a)
		}
	}
	for _, d := range want.DNS {
		if slices.ContainsFunc(has.DNS, func(n string) bool { return strings.EqualFold(n, d) }) {
			continue
		}
		if leaf.VerifyHostname(d) == nil {
			c.bad("issue it with the whole name as subjectAltName dNSName", "it is for %s by a wildcard only, which some firmware refuses", d)
			continue
		}
		c.bad("issue it with the name as subjectAltName dNSName", "it is not for the name %s", d)
	}
}

// chain looks at what leads to the authority.
func (c *checker) chain(p Pair, roots []*x509.Certificate, now time.Time) {
	if p.Kind() == netboot.KeyRSA && slices.ContainsFunc(p.Chain, byECDSA) {
		c.bad("have it signed by an RSA authority", "it has an ECDSA signature, which firmware without elliptic curves cannot verify")
	}
	if len(roots) == 0 {
		return
	}
	options := x509.VerifyOptions{Roots: x509.NewCertPool(), Intermediates: x509.NewCertPool(), CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
	for _, r := range roots {
		options.Roots.AddCert(r)
		c.strength("the authority "+r.Subject.CommonName, r)
		c.dates("the authority "+r.Subject.CommonName, r, now)
	}
	for _, x := range p.Chain[1:] {
		options.Intermediates.AddCert(x)
	}
	if len(c.problems) > 0 {
		return // it would only be said twice
	}
	if _, err := p.Leaf().Verify(options); err != nil {
		c.bad("put the authority that firmware trusts into "+caFile+", and intermediates behind the certificate", "it does not lead to the authority: %v", err)
	}
}

func byECDSA(x *x509.Certificate) bool {
	switch x.SignatureAlgorithm {
	case x509.ECDSAWithSHA1, x509.ECDSAWithSHA256, x509.ECDSAWithSHA384, x509.ECDSAWithSHA512:
		return true
	default:
		return false
	}
}
