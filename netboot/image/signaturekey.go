package image

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// MaxSigningKey bounds the file of a key in bytes; one of RSA-4096 has 800.
const MaxSigningKey = 16 << 10

// minRSA is the smallest modulus of a key in bits (NIST SP 800-57 part 1, table 2: 112 bits
// of security).
const minRSA = 2048

// SigningKey is a public key that signatures of images may be of.
type SigningKey struct {
	Name string
	// Fingerprint is SHA-256 of the SubjectPublicKeyInfo (RFC 5280, section 4.1), in
	// upper-case hex digits.
	Fingerprint string

	public crypto.PublicKey
}

// SigningKeys are those that are trusted, each of a name of its own.
type SigningKeys []SigningKey

// ParseSigningKey reads one public key in PEM, as cosign generate-key-pair and openssl pkey
// -pubout write it: ECDSA with P-256 or P-384, Ed25519, or RSA of at least 2048 bits. The
// code of an error is invalid.
func ParseSigningKey(name string, raw []byte) (SigningKey, error) {
	const op = "read key"
	bad := func(format string, args ...any) (SigningKey, error) {
		return SigningKey{}, protocol.Errorf(protocol.CodeInvalid, op, format, args...).
			WithHint("give a public key in PEM, such as cosign.pub of cosign generate-key-pair")
	}
	block, rest := pem.Decode(raw)
	switch {
	case len(raw) > MaxSigningKey:
		return bad("it has more than %d bytes", MaxSigningKey)
	case block == nil:
		return bad("it is no PEM")
	case strings.Contains(block.Type, "PRIVATE KEY"):
		return bad("it is a private key; whoever reads it can sign")
	case block.Type != "PUBLIC KEY":
		return bad("it is %.40q, and no PUBLIC KEY", block.Type)
	case len(bytes.TrimSpace(rest)) > 0:
		return bad("there is more behind the first key; each key has a file and a name of its own")
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return bad("the key cannot be read: %w", err)
	}
	switch k := public.(type) {
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() && k.Curve != elliptic.P384() {
			return bad("its curve is %s, neither P-256 nor P-384", k.Curve.Params().Name)
		}
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < minRSA {
			return bad("it is of RSA with %d bits, less than %d", bits, minRSA)
		}
	case ed25519.PublicKey:
	default:
		return bad("it is neither of ECDSA, nor of Ed25519, nor of RSA")
	}
	sum := sha256.Sum256(block.Bytes)
	return SigningKey{Name: name, Fingerprint: strings.ToUpper(hex.EncodeToString(sum[:])), public: public}, nil
}

// named are the keys that a signature may be of: the one with the name, or with an empty
// name all.
func (k SigningKeys) named(name string) SigningKeys {
	if name == "" {
		return k
	}
	i := slices.IndexFunc(k, func(s SigningKey) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return k[i : i+1]
}

func (k SigningKeys) names() string {
	var out []string
	for _, s := range k {
		out = append(out, s.Name)
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// Trusts says whether a proof of before counts where the key of a name is wanted, or with an
// empty name any: its key is still there, under its name.
func (k SigningKeys) Trusts(s resource.ISOSignature, name string) bool {
	return s.Scheme == resource.SignatureCosign && slices.ContainsFunc(k.named(name), func(t SigningKey) bool {
		return t.Name == s.Key && t.Fingerprint == s.Fingerprint
	})
}

// signed says whether a signature is of the key. The hash is SHA-256 whatever the key
// (cosign, SIGNATURE_SPEC.md), but for what later releases sign: SHA-384 with P-384, and
// Ed25519ph (RFC 8032, section 5.1) besides Ed25519.
func (s SigningKey) signed(payload, signature []byte) bool {
	sum := sha256.Sum256(payload)
	switch k := s.public.(type) {
	case *ecdsa.PublicKey:
		if ecdsa.VerifyASN1(k, sum[:], signature) {
			return true
		}
		long := sha512.Sum384(payload)
		return k.Curve == elliptic.P384() && ecdsa.VerifyASN1(k, long[:], signature)
	case ed25519.PublicKey:
		if ed25519.Verify(k, payload, signature) {
			return true
		}
		long := sha512.Sum512(payload)
		return ed25519.VerifyWithOptions(k, long[:], signature, &ed25519.Options{Hash: crypto.SHA512}) == nil
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(k, crypto.SHA256, sum[:], signature) == nil
	}
	return false
}
