package sealbox

import (
	"crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// IgnitionBinding is what sealed user data is for. Opened with any other, it fails.
type IgnitionBinding struct {
	Agent    string
	Server   string
	OwnerUID string // UID of the claim
	resource.IgnitionRef
}

// aad is the one encoding of a binding. No two have the same, and none has that of
// credentials.
func (b IgnitionBinding) aad() []byte {
	var out []byte
	for _, field := range []string{"rackboot ignition", b.Agent, b.Server, b.OwnerUID, b.Secret, b.UID, b.Digest} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(field)))
		out = append(out, field...)
	}
	out = binary.BigEndian.AppendUint32(out, 8)
	return binary.BigEndian.AppendUint64(out, b.Version)
}

// SealIgnition seals user data for the agent whose public key is given: the encapsulated
// key, and behind it the ciphertext. The result is another each time; keep it. The codes
// are invalid, for a key that is none and for data that is too long, and internal.
func SealIgnition(key []byte, b IgnitionBinding, content []byte) ([]byte, error) {
	const op = "seal user data"
	public, err := kem().NewPublicKey(key)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the key of agent %s is no X25519 public key", b.Agent)
	}
	if len(content) > resource.MaxIgnition {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "it has %d bytes, more than %d", len(content), resource.MaxIgnition)
	}
	enc, sender, err := hpke.NewSender(public, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(Info))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "for agent %s: %w", b.Agent, err)
	}
	text, err := sender.Seal(b.aad(), content)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	return append(enc, text...), nil
}

// OpenIgnition opens what was sealed for this key and binding. The code is denied for
// anything else, whichever part of it is wrong.
func (k *Key) OpenIgnition(b IgnitionBinding, sealed []byte) ([]byte, error) {
	no := func() error {
		return protocol.Errorf(protocol.CodeDenied, "open user data", "version %d of secret %.63q for server %.63q cannot be opened with the key of agent %s", b.Version, b.Secret, b.Server, b.Agent).
			WithHint("it is for another agent, key, server or claim, or was changed; the hub seals again when the agent says Hello with its key")
	}
	if len(sealed) < message.SealedOverhead || len(sealed) > resource.MaxIgnition+message.SealedOverhead {
		return nil, no()
	}
	r, err := hpke.NewRecipient(sealed[:encSize], k.hpke, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(Info))
	if err != nil {
		return nil, no()
	}
	plain, err := r.Open(b.aad(), sealed[encSize:])
	if err != nil {
		return nil, no()
	}
	return plain, nil
}

// Digest names what was sealed: sha256:<hex>.
func Digest(sealed []byte) string {
	sum := sha256.Sum256(sealed)
	return "sha256:" + hex.EncodeToString(sum[:])
}
