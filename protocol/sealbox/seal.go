package sealbox

import (
	"crypto/ecdh"
	"crypto/hpke"
	"encoding/binary"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

// Info is the info of the HPKE context: use and version of the format.
const Info = "rackboot/seal/1"

// encSize is the length of an encapsulated X25519 key in bytes (RFC 9180, table 2).
const encSize = 32

// Binding is what sealed credentials are for. Opened with any other, they fail.
type Binding struct {
	Agent   string
	BMC     string
	Secret  string
	UID     string
	Version uint64
}

// AAD is the one encoding of a binding: no two have the same.
func (b Binding) AAD() []byte {
	var out []byte
	for _, field := range []string{"rackboot credentials", b.Agent, b.BMC, b.Secret, b.UID} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(field)))
		out = append(out, field...)
	}
	out = binary.BigEndian.AppendUint32(out, 8)
	return binary.BigEndian.AppendUint64(out, b.Version)
}

// Seal seals credentials for the agent whose public key is given. The result is another
// each time; keep it. The codes are invalid, for a key that is none and for credentials
// that are too long, and internal.
func Seal(key []byte, b Binding, c message.BMCCredentials) (*message.SealedCredentials, error) {
	const op = "seal credentials"
	public, err := kem().NewPublicKey(key)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the key of agent %s is no X25519 public key", b.Agent)
	}
	plain, err := c.Encode()
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "they cannot be encoded")
	}
	enc, sender, err := hpke.NewSender(public, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(Info))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "for agent %s: %w", b.Agent, err)
	}
	text, err := sender.Seal(b.AAD(), plain)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if len(text) > message.MaxSealed {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "sealed they have %d bytes, more than %d", len(text), message.MaxSealed)
	}
	return &message.SealedCredentials{Secret: b.Secret, UID: b.UID, Version: b.Version, Enc: enc, Ciphertext: text}, nil
}

func kem() hpke.KEM { return hpke.DHKEM(ecdh.X25519()) }
