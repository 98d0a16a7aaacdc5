package wire

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"

	"github.com/klauspost/compress/zstd"
	"github.com/veraison/go-cose"

	"rackboot/protocol"
)

// keyIDSize is the length of a key id in bytes.
const keyIDSize = 8

// KeyID is the id by which a sealed message names its key: the first 8 bytes of
// the SHA-256 of the Ed25519 public key. It selects a key and proves nothing.
func KeyID(pub ed25519.PublicKey) []byte {
	sum := sha256.Sum256(pub)
	return sum[:keyIDSize]
}

// Signer seals messages with one key. It is safe for concurrent use.
type Signer struct {
	public ed25519.PublicKey
	keyID  []byte
	cose   cose.Signer
	codec  codec
	pack   *zstd.Encoder
	err    error // why it cannot sign; Seal returns it
}

// NewSigner makes a signer. A key that is not an Ed25519 private key makes each
// Seal fail with an invalid error.
func NewSigner(key ed25519.PrivateKey) *Signer {
	if len(key) != ed25519.PrivateKeySize {
		return &Signer{err: protocol.Errorf(protocol.CodeInvalid, "wire.Seal", "the signing key has %d bytes, not %d", len(key), ed25519.PrivateKeySize).
			WithHint("load the Ed25519 private key before signing")}
	}
	return NewSignerOf(key)
}

// NewSignerOf makes a signer of a key that lives elsewhere: its Sign gets the bytes to
// sign, not their digest, as that of [ed25519.PrivateKey] does. A key whose public half
// is not Ed25519 makes each Seal fail with an invalid error.
func NewSignerOf(key crypto.Signer) *Signer {
	s := &Signer{}
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok || len(public) != ed25519.PublicKeySize {
		s.err = protocol.Errorf(protocol.CodeInvalid, "wire.Seal", "the signing key is not an Ed25519 key")
		return s
	}
	s.public, s.keyID = public, KeyID(public)
	if s.codec, s.err = newCodec(); s.err != nil {
		return s
	}
	if s.cose, s.err = cose.NewSigner(cose.AlgorithmEdDSA, key); s.err != nil {
		return s
	}
	// One encoder and a small window: an agent seals one message at a time and
	// has 64 MiB for everything.
	s.pack, s.err = zstd.NewWriter(nil,
		zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithWindowSize(MaxMessage*2),
		zstd.WithLowerEncoderMem(true))
	return s
}

// Beside makes a signer of another key that shares the compressor of s, which has more than a
// megabyte. It is for a process with thousands of keys; both seal one message at a time
// together.
func (s *Signer) Beside(key ed25519.PrivateKey) *Signer {
	out := &Signer{codec: s.codec, pack: s.pack, err: s.err}
	if out.err != nil {
		return out
	}
	if len(key) != ed25519.PrivateKeySize {
		return NewSigner(key) // which says what is wrong with it
	}
	out.public = key.Public().(ed25519.PublicKey) //nolint:errcheck // it always is
	out.keyID = KeyID(out.public)
	out.cose, out.err = cose.NewSigner(cose.AlgorithmEdDSA, key)
	return out
}

// Public is the public half of the key; nil if the key was unusable.
func (s *Signer) Public() ed25519.PublicKey { return s.public }
