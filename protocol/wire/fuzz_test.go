package wire

import (
	"testing"

	"rackboot/protocol"
)

// FuzzOpen feeds what any client of the broker may send.
func FuzzOpen(f *testing.F) {
	s := NewSigner(testKey(0))
	v := NewVerifier(s.Public())
	foreign := NewSigner(testKey(1))
	for _, g := range vectors() {
		data, err := Seal(foreign, g.topic, g.msg)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte{0xd2, 0x84, 0x40, 0xa0, 0x40, 0x40})
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := Open(v, "t", data, &protocol.RackDoc{}); err == nil {
			t.Fatal("accepted without the key")
		} else if c := protocol.CodeOf(err); c != protocol.CodeDenied && c != protocol.CodeInvalid {
			t.Fatal(err)
		}
	})
}

// FuzzOpenSigned feeds what a faulty or hostile joined peer may send.
func FuzzOpenSigned(f *testing.F) {
	s := NewSigner(testKey(0))
	v := NewVerifier(s.Public())
	for _, g := range vectors() {
		payload, err := s.codec.enc.Marshal(g.msg)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(payload, false)
		f.Add(s.pack.EncodeAll(payload, nil), true)
	}
	f.Fuzz(func(t *testing.T, payload []byte, packed bool) {
		if len(payload) > MaxMessage-256 || payload == nil {
			return
		}
		change := packedHeader
		if !packed {
			change = nil
		}
		data := forge(t, s, "t", payload, change)
		for _, m := range messages() {
			msg := m.empty()
			err := Open(v, "t", data, msg)
			if err != nil {
				if protocol.CodeOf(err) != protocol.CodeInvalid {
					t.Fatal(err)
				}
				continue
			}
			if _, err := Seal(s, "t", msg); err != nil && protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Fatal(err)
			}
		}
	})
}
