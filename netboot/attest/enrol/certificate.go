package enrol

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"slices"
	"time"

	"rackboot/netboot/attest/tpmkey"
)

// Origin says who vouches for an endorsement key.
type Origin string

// Origins.
const (
	Vouched       Origin = "vouched"        // the certificate leads to an authority that the site gave
	NoCertificate Origin = "no-certificate" // the machine sent none: nobody says that there is a TPM
	NoAuthority   Origin = "no-authority"   // the site gave none: the certificate is kept, and nobody vouches

	BadCertificate Origin = "bad-certificate" // it cannot be read, or is none of an endorsement key
	OtherKey       Origin = "other-key"       // it is of another key
	Expired        Origin = "expired"         // it, or one above it, is not valid now
	OtherAuthority Origin = "other-authority" // it leads to no authority that the site gave
)

// Refused reports whether the certificate speaks against the key. Without a certificate or an
// authority nothing does, and nothing speaks for it.
func (o Origin) Refused() bool {
	switch o {
	case Vouched, NoCertificate, NoAuthority:
		return false
	case BadCertificate, OtherKey, Expired, OtherAuthority:
	}
	return true
}

// Authorities are the certificates of authorities of TPMs.
type Authorities struct {
	Roots         []*x509.Certificate // that the site gave
	Intermediates []*x509.Certificate // from anywhere
}

// Bounds of certificates.
const (
	maxCertificate   = 8 << 10
	maxIntermediates = 8
)

// Certificate says who vouches for an endorsement key by its certificate in DER, as a TPM has it in
// its NV index 0x01c00002 or 0x01c0000a: zeros or ones may follow it there. now is the time at
// which it has to be valid.
func Certificate(key *tpmkey.Key, der []byte, by Authorities, now time.Time) Origin {
	if len(der) == 0 {
		return NoCertificate
	}
	cert, public := parseCertificate(der)
	f := certificateFacts{readable: cert != nil, authority: len(by.Roots) > 0}
	if cert != nil {
		f.key = sameKey(public, key)
		f.current = !now.Before(cert.NotBefore) && !now.After(cert.NotAfter)
		f.chain = f.authority && leads(cert, by, now)
		f.chainEver = f.chain || f.authority && leads(cert, by, cert.NotBefore)
	}
	return originOf(f)
}

// certificateFacts are what the rule sees of a certificate.
type certificateFacts struct {
	readable  bool // a certificate of an endorsement key
	key       bool // of this one
	authority bool // the site gave one
	current   bool // it is valid by its own dates
	chain     bool // it leads to a given authority now
	chainEver bool // it did when it was made
}

// originOf is the rule of certificates. The first row that fits decides.
//
//	readable | key | authority | current | chain | chainEver | origin
//	no       | *   | *         | *       | *     | *         | bad-certificate
//	yes      | no  | *         | *       | *     | *         | other-key
//	yes      | yes | *         | no      | *     | *         | expired
//	yes      | yes | no        | yes     | *     | *         | no-authority
//	yes      | yes | yes       | yes     | yes   | *         | vouched
//	yes      | yes | yes       | yes     | no    | yes       | expired
//	yes      | yes | yes       | yes     | no    | no        | other-authority
func originOf(f certificateFacts) Origin {
	switch {
	case !f.readable:
		return BadCertificate
	case !f.key:
		return OtherKey
	case !f.current:
		return Expired
	case !f.authority:
		return NoAuthority
	case f.chain:
		return Vouched
	case f.chainEver:
		return Expired
	}
	return OtherAuthority
}

// Object identifiers (RFC 5280, RFC 4055, TCG EK Credential Profile 2.5 section 3).
func oidAlternativeName() asn1.ObjectIdentifier { return asn1.ObjectIdentifier{2, 5, 29, 17} }
func oidEndorsement() asn1.ObjectIdentifier     { return asn1.ObjectIdentifier{2, 23, 133, 8, 1} } // tcg-kp-EKCertificate
func oidManufacturer() asn1.ObjectIdentifier    { return asn1.ObjectIdentifier{2, 23, 133, 2, 1} }
func oidOAEP() asn1.ObjectIdentifier            { return asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 7} }

// parseCertificate reads a certificate of an endorsement key, and its key; nil if it is none.
func parseCertificate(der []byte) (*x509.Certificate, crypto.PublicKey) {
	if len(der) > maxCertificate {
		return nil, nil
	}
	var outer asn1.RawValue
	rest, err := asn1.Unmarshal(der, &outer)
	if err != nil || len(bytes.Trim(rest, "\x00")) > 0 && len(bytes.Trim(rest, "\xff")) > 0 {
		return nil, nil
	}
	cert, err := x509.ParseCertificate(outer.FullBytes)
	if err != nil || cert.IsCA {
		return nil, nil
	}
	// One without any extended key usage is of the first profiles.
	if len(cert.ExtKeyUsage)+len(cert.UnknownExtKeyUsage) > 0 &&
		!slices.ContainsFunc(cert.UnknownExtKeyUsage, oidEndorsement().Equal) {
		return nil, nil
	}
	understand(cert)
	if public := cert.PublicKey; public != nil {
		return cert, public
	}
	return cert, oaepKey(cert.RawSubjectPublicKeyInfo)
}

// understand takes the alternative name off the extensions that nobody understood, if it is a
// directory name that names the TPM's manufacturer: the profile has it critical, because the subject
// is empty, and crypto/x509 knows no directory names there.
func understand(cert *x509.Certificate) {
	for _, e := range cert.Extensions {
		if e.Id.Equal(oidAlternativeName()) && namesManufacturer(e.Value) {
			cert.UnhandledCriticalExtensions = slices.DeleteFunc(cert.UnhandledCriticalExtensions, oidAlternativeName().Equal)
		}
	}
}

// directoryTag is that of a directoryName in GeneralName (RFC 5280 section 4.2.1.6).
const directoryTag = 4

// namesManufacturer reports whether the names have one that is a directory name with the attribute
// tpmManufacturer. Attributes come in one set or in a set each.
func namesManufacturer(value []byte) bool {
	var names []asn1.RawValue
	if rest, err := asn1.Unmarshal(value, &names); err != nil || len(rest) > 0 {
		return false
	}
	for _, n := range names {
		var sets []asn1.RawValue
		if n.Class != asn1.ClassContextSpecific || n.Tag != directoryTag {
			continue
		}
		if rest, err := asn1.Unmarshal(n.Bytes, &sets); err != nil || len(rest) > 0 {
			continue
		}
		for _, set := range sets {
			attributes := set.Bytes
			for len(attributes) > 0 {
				var a struct {
					Type  asn1.ObjectIdentifier
					Value asn1.RawValue
				}
				rest, err := asn1.Unmarshal(attributes, &a)
				if err != nil {
					break
				}
				if a.Type.Equal(oidManufacturer()) {
					return true
				}
				attributes = rest
			}
		}
	}
	return false
}

// oaepKey is the RSA key of a SubjectPublicKeyInfo that says that it is for OAEP only (RFC 4055
// section 1.2), as some TPMs' do; nil for another.
func oaepKey(info []byte) crypto.PublicKey {
	var spki struct {
		Algorithm struct {
			Algorithm  asn1.ObjectIdentifier
			Parameters asn1.RawValue `asn1:"optional"`
		}
		Key asn1.BitString
	}
	if rest, err := asn1.Unmarshal(info, &spki); err != nil || len(rest) > 0 || !spki.Algorithm.Algorithm.Equal(oidOAEP()) {
		return nil
	}
	key, err := x509.ParsePKCS1PublicKey(spki.Key.RightAlign())
	if err != nil {
		return nil
	}
	return key
}

func sameKey(public crypto.PublicKey, key *tpmkey.Key) bool {
	other, ok := public.(interface{ Equal(crypto.PublicKey) bool })
	return ok && other.Equal(key.Public())
}

// leads reports whether a certificate leads to one of the roots at a time.
func leads(cert *x509.Certificate, by Authorities, at time.Time) bool {
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	for _, c := range by.Roots {
		roots.AddCert(c)
	}
	for _, c := range by.Intermediates[:min(len(by.Intermediates), maxIntermediates)] {
		between.AddCert(c)
	}
	_, err := cert.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	return err == nil
}
