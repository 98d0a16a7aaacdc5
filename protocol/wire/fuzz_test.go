package wire

import (
	"bytes"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/message"
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
		if err := Open(v, "t", data, &message.RackDoc{}); err == nil {
			t.Fatal("accepted without the key")
		} else if c := protocol.CodeOf(err); c != protocol.CodeDenied && c != protocol.CodeInvalid {
			t.Fatal(err)
		}
	})
}

// sealedAgain holds that what was read is written as the same message: unknown
// fields are dropped, and then the bytes stay the same.
func sealedAgain(t *testing.T, s *Signer, v *Verifier, m sample, msg any) {
	first, err := Seal(s, "t", msg)
	if protocol.CodeOf(err) == protocol.CodeInvalid {
		return // larger than what it was read from: times and maps have one form
	}
	if err != nil {
		t.Fatal(err)
	}
	out := m.empty()
	if err := Open(v, "t", first, out); err != nil {
		t.Fatalf("%s: sealed and not opened: %v", m.name, err)
	}
	second, err := Seal(s, "t", out)
	if err != nil || !bytes.Equal(first, second) {
		t.Fatalf("%s: other bytes (%v)\n%+v\n%+v", m.name, err, msg, out)
	}
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
		if g.file == "hello" || g.file == "rack-50-zstd" {
			f.Add(s.pack.EncodeAll(payload, nil), true)
		}
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
			sealedAgain(t, s, v, m, msg)
		}
	})
}

// FuzzInspect feeds what anybody captured. What Open accepts, Inspect shows, and
// whatever it shows can be printed.
func FuzzInspect(f *testing.F) {
	s := NewSigner(testKey(0))
	v := NewVerifier(s.Public())
	for _, g := range vectors() {
		f.Add(readVector(f, "v1", g.file), false)
		payload, err := s.codec.enc.Marshal(g.msg)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(payload, true)
	}
	f.Add([]byte{0xd2, 0x84, 0x40, 0xa0, 0xf6, 0x40}, false)
	f.Add([]byte{0xa1, 0x61, 'x', 0xf9, 0x7e, 0x00}, true) // not a number
	f.Fuzz(func(t *testing.T, data []byte, sign bool) {
		if sign && data != nil && len(data) <= MaxMessage-256 {
			data = forge(t, s, "t", data, nil)
		}
		e, err := Inspect(data)
		if c := protocol.CodeOf(err); err != nil && c != protocol.CodeInvalid {
			t.Fatal(err)
		}
		if e.Sealed != len(data) || e.Digest != Digest(data) {
			t.Fatalf("%+v", e)
		}
		opened := Open(v, "t", data, &struct{}{})
		if opened == nil && (err != nil || !e.SignedBy("t", s.Public())) {
			t.Fatalf("opened, and not shown: %v", err)
		}
		if err != nil && (e.SignedBy("t", s.Public()) || e.Decode(&struct{}{}) == nil) {
			t.Fatal("a malformed message is decoded")
		}
		if content, err := e.Content(); (content == nil) != (protocol.CodeOf(err) == protocol.CodeInvalid) {
			t.Fatalf("%v, %v", content, err)
		}
	})
}
