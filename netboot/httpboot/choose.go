package httpboot

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"slices"

	"rackboot/netboot"
)

// pointUncompressed is the point format that Go's ECDHE speaks (RFC 8422 section
// 5.1.2).
const pointUncompressed = 0

// offer is what counts in a ClientHello for the choice of a certificate.
type offer struct {
	suite     bool // TLS 1.3, or a suite of ECDHE_ECDSA that is served
	curve     bool // the certificate's curve; TLS 1.3 does not tie the two together
	signature bool // an ECDSA signature that the certificate's key makes
}

// choose picks the kind of certificate for a client. The first row that fits
// decides.
//
//	ecdsa | rsa | suite | curve | signature | certificate
//	no    | no  | *     | *     | *         | none
//	yes   | no  | *     | *     | *         | ecdsa
//	no    | yes | *     | *     | *         | rsa
//	yes   | yes | yes   | yes   | yes       | ecdsa
//	yes   | yes | *     | *     | *         | rsa
//
// The first two columns say which certificates there are. A client that gets one
// that it cannot use hears so at once, by an alert.
//
// ECDSA where it works, because a handshake with it costs a fifth of one with RSA
// and a rack boots at once. RSA for firmware whose OpenSSL is built without
// elliptic curves, as the default was in EDK2 up to edk2-stable202211.
func choose(ecdsa, rsa bool, o offer) netboot.KeyKind {
	switch {
	case !ecdsa && !rsa:
		return ""
	case !rsa:
		return netboot.KeyECDSA
	case !ecdsa:
		return netboot.KeyRSA
	case o.suite && o.curve && o.signature:
		return netboot.KeyECDSA
	default:
		return netboot.KeyRSA
	}
}

// offerOf reads a ClientHello for a certificate with a key on this curve.
func offerOf(hello *tls.ClientHelloInfo, curve elliptic.Curve) offer {
	id, scheme := tls.CurveP256, tls.ECDSAWithP256AndSHA256
	if curve == elliptic.P384() {
		id, scheme = tls.CurveP384, tls.ECDSAWithP384AndSHA384
	}
	if slices.Contains(hello.SupportedVersions, tls.VersionTLS13) {
		return offer{suite: true, curve: true, signature: slices.Contains(hello.SignatureSchemes, scheme)}
	}
	points := hello.SupportedPoints
	return offer{
		suite: slices.ContainsFunc(ecdsaSuites, func(s uint16) bool { return slices.Contains(hello.CipherSuites, s) }),
		curve: slices.Contains(hello.SupportedCurves, id) && (len(points) == 0 || slices.Contains(points, pointUncompressed)),
		// TLS 1.2 names a hash with the kind of key, and no curve.
		signature: slices.ContainsFunc(hello.SignatureSchemes, func(s tls.SignatureScheme) bool {
			return s == tls.ECDSAWithP256AndSHA256 || s == tls.ECDSAWithP384AndSHA384 || s == tls.ECDSAWithP521AndSHA512
		}),
	}
}

// curveOf is the curve of an ECDSA certificate; P-256 if there is none.
func curveOf(c *tls.Certificate) elliptic.Curve {
	if c != nil && c.Leaf != nil {
		if key, ok := c.Leaf.PublicKey.(*ecdsa.PublicKey); ok {
			return key.Curve
		}
	}
	return elliptic.P256()
}
