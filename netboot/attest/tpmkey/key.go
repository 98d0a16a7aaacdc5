package tpmkey

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	_ "crypto/sha256" // names of keys
	_ "crypto/sha512" // likewise
	"encoding/binary"
	"fmt"

	"github.com/google/go-tpm/tpm2"

	"rackboot/protocol"
)

// Bounds of an area. One with RSA-4096 has 560 bytes.
const (
	MaxArea    = 1024
	minRSABits = 2048
	maxRSABits = 4096
	exponent   = 65537
)

// Key is a key's public area. It does not change; it is safe to read at once.
type Key struct {
	area   tpm2.TPMTPublic
	raw    []byte
	name   []byte
	public crypto.PublicKey
}

// Parse reads a TPMT_PUBLIC. The error has the code invalid, or unsupported for a key of
// an algorithm or a size that is not taken.
func Parse(area []byte) (*Key, error) {
	const op = "read TPM key"
	if len(area) > MaxArea {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the key's public area has %d bytes; more than %d are not read", len(area), MaxArea)
	}
	parsed, err := tpm2.Unmarshal[tpm2.TPMTPublic](area)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the key's public area cannot be read: %w", err)
	}
	if parsed.Type != tpm2.TPMAlgRSA && parsed.Type != tpm2.TPMAlgECC {
		return nil, protocol.Errorf(protocol.CodeUnsupported, op, "the key is of type %#04x; RSA and ECC keys are taken", uint16(parsed.Type))
	}
	if !bytes.Equal(tpm2.Marshal(*parsed), area) {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the key's public area has more than one reading")
	}
	k := &Key{area: *parsed, raw: bytes.Clone(area)}
	if k.public, err = publicOf(*parsed); err != nil {
		return nil, protocol.Errorf(protocol.CodeUnsupported, op, "the key %w", err)
	}
	h, ok := hashOf(parsed.NameAlg)
	if !ok {
		return nil, protocol.Errorf(protocol.CodeUnsupported, op, "the key's name is by algorithm %#04x; SHA-256, SHA-384 and SHA-512 are taken", uint16(parsed.NameAlg))
	}
	sum := h.New()
	sum.Write(area)
	k.name = sum.Sum(binary.BigEndian.AppendUint16(nil, uint16(parsed.NameAlg)))
	return k, nil
}

// publicOf is the key itself. Errors are words that follow "the key".
func publicOf(area tpm2.TPMTPublic) (crypto.PublicKey, error) {
	public, err := tpm2.Pub(area)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	switch public := public.(type) {
	case *rsa.PublicKey:
		params, err := area.Parameters.RSADetail()
		if err != nil {
			return nil, fmt.Errorf("has no parameters: %w", err)
		}
		if bits := public.N.BitLen(); bits < minRSABits || bits > maxRSABits || bits != int(params.KeyBits) || public.E != exponent || public.N.Bit(0) == 0 {
			return nil, fmt.Errorf("is of RSA with %d bits and the exponent %d, or with no modulus of two primes", bits, public.E)
		}
		return public, nil
	case *ecdsa.PublicKey:
		if _, err := public.ECDH(); err != nil {
			return nil, fmt.Errorf("is no point of its curve")
		}
		return public, nil
	}
	return nil, fmt.Errorf("is neither RSA nor ECC")
}

// hashOf is the hash of an algorithm that is taken for names and signatures.
func hashOf(a tpm2.TPMAlgID) (crypto.Hash, bool) {
	switch a {
	case tpm2.TPMAlgSHA256:
		return crypto.SHA256, true
	case tpm2.TPMAlgSHA384:
		return crypto.SHA384, true
	case tpm2.TPMAlgSHA512:
		return crypto.SHA512, true
	default:
		return 0, false
	}
}

// Area is the TPMT_PUBLIC; it is a copy.
func (k *Key) Area() []byte { return bytes.Clone(k.raw) }

// Name is the key's Name: the algorithm of its hash, and the hash of its area (TPM 2.0 Library part
// 1 section 16). It is a copy.
func (k *Key) Name() []byte { return bytes.Clone(k.name) }

// Public is an *rsa.PublicKey or an *ecdsa.PublicKey.
func (k *Key) Public() crypto.PublicKey { return k.public }

// Attributes are what the TPM enforces for the key.
func (k *Key) Attributes() tpm2.TPMAObject { return k.area.ObjectAttributes }

// Structure is the area as its fields. The copy is shallow: callers must not change what it
// points to.
func (k *Key) Structure() tpm2.TPMTPublic { return k.area }

// Hierarchies, by their handles (TPM 2.0 Library part 2 section 7.4).
const (
	Owner       uint32 = 0x40000001
	Endorsement uint32 = 0x4000000b
)

// QualifiedName is the name by which quotes name the key as their signer, if it is a primary key of
// the hierarchy (TPM 2.0 Library part 1 section 16).
func (k *Key) QualifiedName(hierarchy uint32) []byte {
	h, _ := hashOf(k.area.NameAlg) // Parse has looked
	sum := h.New()
	sum.Write(binary.BigEndian.AppendUint32(nil, hierarchy))
	sum.Write(k.name)
	return sum.Sum(binary.BigEndian.AppendUint16(nil, uint16(k.area.NameAlg)))
}
