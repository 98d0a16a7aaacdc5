package sealbox

import (
	"bytes"
	"compress/flate"
	"crypto/hpke"
	"encoding/binary"
	"io"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// EnvBinding is what a sealed bundle of a boot environment is for. Opened with any other,
// it fails.
type EnvBinding struct {
	Agent    string
	Server   string
	OwnerUID string // UID of the owner: claim, maintenance or discovery
	Bundle   string // digest of the bundle's JSON, sha256:<hex>
}

// aad is the one encoding of a binding. No two have the same, and none has that of
// credentials or user data.
func (b EnvBinding) aad() []byte {
	var out []byte
	for _, field := range []string{"rackboot bootenv", b.Agent, b.Server, b.OwnerUID, b.Bundle} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(field)))
		out = append(out, field...)
	}
	return out
}

// SealEnv compresses a bundle (DEFLATE, RFC 1951) and seals it for the agent whose public
// key is given: the encapsulated key, and behind it the ciphertext. The result is another
// each time; keep it. The codes are invalid, for a key that is none, content that is not
// the bundle of the binding, or one that is too long, and internal.
func SealEnv(key []byte, b EnvBinding, content []byte) ([]byte, error) {
	const op = "seal boot environment"
	public, err := kem().NewPublicKey(key)
	switch {
	case err != nil:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the key of agent %s is no X25519 public key", b.Agent)
	case len(content) > resource.MaxEnvBundle:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "it has %d bytes, more than %d", len(content), resource.MaxEnvBundle).
			WithHint("shorten templates and params; large files belong into an ISO or an image")
	case Digest(content) != b.Bundle:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the content has another digest than the binding")
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if n := packed.Len() + message.SealedOverhead; n > resource.MaxSealedEnv {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "compressed it has %d bytes, more than %d", n, resource.MaxSealedEnv).
			WithHint("shorten templates and params; large files belong into an ISO or an image")
	}
	enc, sender, err := hpke.NewSender(public, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(Info))
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "for agent %s: %w", b.Agent, err)
	}
	text, err := sender.Seal(b.aad(), packed.Bytes())
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	return append(enc, text...), nil
}

// OpenEnv opens what was sealed for this key and binding: JSON of a resource.EnvBundle
// with the digest of the binding, of at most [resource.MaxEnvBundle] bytes. The code is
// denied for anything else, whichever part of it is wrong.
func (k *Key) OpenEnv(b EnvBinding, sealed []byte) ([]byte, error) {
	no := func() error {
		return protocol.Errorf(protocol.CodeDenied, "open boot environment", "bundle %.80q for server %.63q cannot be opened with the key of agent %s", b.Bundle, b.Server, b.Agent).
			WithHint("it is for another agent, key, server or owner, or was changed; the hub seals again when the agent says Hello with its key")
	}
	if len(sealed) < message.SealedOverhead || len(sealed) > resource.MaxSealedEnv {
		return nil, no()
	}
	r, err := hpke.NewRecipient(sealed[:encSize], k.hpke, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(Info))
	if err != nil {
		return nil, no()
	}
	packed, err := r.Open(b.aad(), sealed[encSize:])
	if err != nil {
		return nil, no()
	}
	content, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), resource.MaxEnvBundle+1))
	if err != nil || len(content) > resource.MaxEnvBundle || Digest(content) != b.Bundle {
		return nil, no()
	}
	return content, nil
}
