package wire

import (
	"bytes"
	"fmt"

	"github.com/fxamacker/cbor/v2"
	"github.com/veraison/go-cose"

	"rackboot/protocol"
)

// Open verifies data for the topic and decodes it into msg, a pointer. Nothing
// is decompressed or decoded before the signature is verified. Unknown fields
// are passed over; after an error msg may be partly filled.
//
// Errors: denied if v is nil or has no keys, if no key of v signed the data, if
// the data was changed, or if it was sealed for another topic; invalid if the
// form is wrong or over a limit.
func Open(v *Verifier, topic string, data []byte, msg any) error {
	const op = "wire.Open"
	if v == nil || len(v.keys) == 0 {
		return protocol.Errorf(protocol.CodeDenied, op, "no key is known for topic %s", topic).
			WithHint("the sender must have joined, and its key must be loaded")
	}
	if v.err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "verifier: %w", v.err)
	}
	if len(data) > MaxMessage {
		return tooLarge(op, topic, "is sealed", len(data), MaxMessage)
	}
	m, keyID, packed, err := v.codec.parse(data)
	if err != nil {
		return malformed(op, topic, err)
	}
	key, ok := v.keys[keyID]
	if !ok {
		return protocol.Errorf(protocol.CodeDenied, op, "message on topic %s is signed by the unknown key %x", topic, keyID).
			WithHint("the sender's key was replaced, or the message is not from it")
	}
	if err := m.Verify([]byte(topic), key); err != nil {
		return protocol.Errorf(protocol.CodeDenied, op, "message on topic %s was changed, or sealed for another topic: %w", topic, err).
			WithHint("look for a broker or bridge that rewrites topics or payloads")
	}
	payload := m.Payload
	if packed {
		room := v.rooms.Get().(*[]byte)
		defer v.rooms.Put(room) // nothing that was decoded refers to it
		if payload, err = v.unpack.DecodeAll(payload, (*room)[:0]); err != nil {
			return malformed(op, topic, err)
		}
		*room = payload
		if len(payload) > MaxUnpacked {
			return tooLarge(op, topic, "is", len(payload), MaxUnpacked)
		}
	}
	if len(payload) == 0 || payload[0]>>5 != 5 { // null would pass as an empty message
		return malformed(op, topic, fmt.Errorf("the payload is not a map"))
	}
	if err := v.codec.dec.Unmarshal(payload, msg); err != nil {
		return malformed(op, topic, fmt.Errorf("cannot decode %T: %w", msg, err))
	}
	return nil
}

// parse reads an envelope. Nothing of it is verified, but its form is the one that
// Seal gives.
func (c codec) parse(data []byte) (m *cose.Sign1Message, keyID string, packed bool, err error) {
	m = &cose.Sign1Message{}
	if err := m.UnmarshalCBOR(data); err != nil {
		return nil, "", false, err
	}
	if err := c.checkForm(m, data); err != nil {
		return nil, "", false, err
	}
	keyID, packed, err = readProtected(m.Headers.Protected)
	return m, keyID, packed, err
}

// checkForm refuses what the signature does not cover: an unprotected header,
// and lengths that are not in their shortest form.
func (c codec) checkForm(m *cose.Sign1Message, data []byte) error {
	var protected []byte
	if err := cbor.Unmarshal(m.Headers.RawProtected, &protected); err != nil {
		return err
	}
	want := []byte{0xd2, 0x84} // tag 18, array of 4
	for i, part := range [][]byte{protected, nil, m.Payload, m.Signature} {
		if i == 1 {
			want = append(want, 0xa0) // no unprotected header
			continue
		}
		b, err := c.enc.Marshal(part)
		if err != nil {
			return err
		}
		want = append(want, b...)
	}
	if !bytes.Equal(want, data) {
		return fmt.Errorf("the envelope is not in its one form")
	}
	return nil
}

func malformed(op, topic string, err error) error {
	return protocol.Errorf(protocol.CodeInvalid, op, "message on topic %s is malformed: %w", topic, err).
		WithHint("hub and agent must be of adjacent versions")
}
