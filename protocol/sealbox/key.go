package sealbox

import (
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hpke"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

// Key is an agent's X25519 private key. It prints and logs as its public half's id, and
// is safe for concurrent use.
type Key struct {
	x25519 *ecdh.PrivateKey
	hpke   hpke.PrivateKey
}

// NewKey makes a key. It is never repeated.
func NewKey() (*Key, error) {
	x, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "make a key", "%w", err)
	}
	return of(x)
}

// ParseKey reads what Bytes returned; invalid if it is no key.
func ParseKey(raw []byte) (*Key, error) {
	x, err := ecdh.X25519().NewPrivateKey(raw)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read a key", "it is not an X25519 private key")
	}
	return of(x)
}

func of(x *ecdh.PrivateKey) (*Key, error) {
	k, err := hpke.NewDHKEMPrivateKey(x)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, "read a key", "it does not fit HPKE")
	}
	return &Key{x, k}, nil
}

// Bytes is the private key itself, 32 bytes, for the agent's identity folder.
func (k *Key) Bytes() []byte { return k.x25519.Bytes() }

// Public is the public key, which the hub is told.
func (k *Key) Public() []byte { return k.x25519.PublicKey().Bytes() }

// Derive is a secret key of 32 bytes for another purpose, which is named (RFC 5869).
func (k *Key) Derive(purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, k.x25519.Bytes(), nil, purpose, sha256.Size)
}

// Open opens what was sealed for this key and binding. The code is denied for anything
// else, whichever part of it is wrong.
func (k *Key) Open(b Binding, s *message.SealedCredentials) (message.BMCCredentials, error) {
	const op = "open sealed credentials"
	no := func() error {
		return protocol.Errorf(protocol.CodeDenied, op, "version %d of secret %.63q for BMC %.63q cannot be opened with the key of agent %s", b.Version, b.Secret, b.BMC, b.Agent).
			WithHint("they are for another agent, key or BMC, or were changed; the hub seals again when the agent says Hello with its key")
	}
	if s == nil || len(s.Enc) != encSize || len(s.Ciphertext) > message.MaxSealed || s.Secret != b.Secret || s.UID != b.UID || s.Version != b.Version {
		return message.BMCCredentials{}, no()
	}
	r, err := hpke.NewRecipient(s.Enc, k.hpke, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(Info))
	if err != nil {
		return message.BMCCredentials{}, no()
	}
	plain, err := r.Open(b.AAD(), s.Ciphertext)
	if err != nil {
		return message.BMCCredentials{}, no()
	}
	defer clear(plain)
	return message.DecodeBMCCredentials(plain)
}

// ID names a public key in logs and records: the beginning of its digest.
func ID(public []byte) string {
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:8])
}

// Format writes the id, whatever the verb.
func (k *Key) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(ID(k.Public()))) } // as fmt itself does

// LogValue is the id.
func (k *Key) LogValue() slog.Value { return slog.StringValue(ID(k.Public())) }
