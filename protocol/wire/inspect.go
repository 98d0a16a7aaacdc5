package wire

import (
	"crypto/ed25519"
	"fmt"

	"github.com/veraison/go-cose"

	"rackboot/protocol"
)

// Envelope is what a sealed message says of itself. Nothing in it is verified: it
// is for tools that show messages, and decides nothing. See [Open] for that.
type Envelope struct {
	KeyID      []byte // of the key that the message names; see [KeyID]
	Algorithm  string // EdDSA
	Compressed bool
	Sealed     int    // bytes of the message
	Packed     int    // bytes of the payload as it travels
	Unpacked   int    // bytes of the payload before compression
	Digest     string // of the sealed bytes

	message *cose.Sign1Message
	payload []byte // unpacked
	codec   codec
}

// Inspect reads the envelope of a sealed message and unpacks its payload without
// verifying anything. It has the limits and accepts only the form of [Open]. After
// an error, which is invalid, the envelope holds what was read so far; Sealed and
// Digest always.
func Inspect(data []byte) (Envelope, error) {
	const op = "wire.Inspect"
	e := Envelope{Sealed: len(data), Digest: Digest(data)}
	broken := func(err error) (Envelope, error) {
		return e, protocol.Errorf(protocol.CodeInvalid, op, "the message is malformed: %w", err).
			WithHint("a sealed message begins with the bytes d2 84; it may have been cut short, or is of another version")
	}
	if len(data) > MaxMessage {
		return e, protocol.Errorf(protocol.CodeInvalid, op, "the message is %d bytes large, the limit is %d", len(data), MaxMessage).
			WithHint("no hub and no agent sends one that large")
	}
	var err error
	if e.codec, err = newCodec(); err != nil {
		return broken(err)
	}
	m, keyID, packed, err := e.codec.parse(data)
	if m != nil {
		e.Packed = len(m.Payload)
	}
	if err != nil {
		return broken(err)
	}
	e.KeyID, e.Algorithm, e.Compressed = []byte(keyID), cose.AlgorithmEdDSA.String(), packed
	payload := m.Payload
	if packed {
		unpack, err := newUnpacker()
		if err != nil {
			return broken(err)
		}
		defer unpack.Close()
		if payload, err = unpack.DecodeAll(payload, nil); err != nil {
			return broken(err)
		}
		if len(payload) > MaxUnpacked {
			return e, protocol.Errorf(protocol.CodeInvalid, op, "the message is unpacked more than %d bytes large", MaxUnpacked).
				WithHint("no hub and no agent sends one that large")
		}
	}
	e.Unpacked, e.message, e.payload = len(payload), m, payload
	return e, nil
}

// SignedBy says whether the key signed the message for the topic. It is false for
// an envelope that [Inspect] refused.
func (e Envelope) SignedBy(topic string, key ed25519.PublicKey) bool {
	if e.message == nil || len(key) != ed25519.PublicKeySize {
		return false
	}
	v, err := cose.NewVerifier(cose.AlgorithmEdDSA, key)
	return err == nil && e.message.Verify([]byte(topic), v) == nil
}

// Content is the message as it came, also what this version does not know: maps as
// map[string]any (a key that is not text is written as text), byte strings as
// []byte, integers as uint64 or int64. Errors: invalid for what [Open] would
// refuse, whatever it is opened into.
func (e Envelope) Content() (map[string]any, error) {
	const op = "wire.Envelope"
	if e.message == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the message is malformed")
	}
	var raw map[any]any
	if err := e.codec.dec.Unmarshal(e.payload, &raw); err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the content is not that of a message: %w", err)
	}
	if raw == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the content is null instead of a map")
	}
	return textKeys(raw).(map[string]any), nil
}

// textKeys replaces the maps of a decoded value. Its depth is that of the decoder.
func textKeys(v any) any {
	switch v := v.(type) {
	case map[any]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[fmt.Sprint(key)] = textKeys(value)
		}
		return out
	case []any:
		for i := range v {
			v[i] = textKeys(v[i])
		}
	}
	return v
}

// Decode decodes the message into msg, a pointer, as [Open] does, unverified.
// Errors: invalid.
func (e Envelope) Decode(msg any) error {
	if e.message == nil {
		return protocol.Errorf(protocol.CodeInvalid, "wire.Envelope", "the message is malformed")
	}
	if err := e.codec.dec.Unmarshal(e.payload, msg); err != nil {
		return protocol.Errorf(protocol.CodeInvalid, "wire.Envelope", "cannot decode %T: %w", msg, err)
	}
	return nil
}
