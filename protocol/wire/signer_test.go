package wire

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"reflect"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

// A signer beside another seals as one of its own, also what is compressed.
func TestBeside(t *testing.T) {
	first := NewSigner(testKey(0))
	beside, own := first.Beside(testKey(1)), NewSigner(testKey(1))
	for name, msg := range benchmarks() {
		got, err := Seal(beside, "t", msg)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Seal(own, "t", msg)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes than of a signer of its own", name)
		}
	}
	if !beside.Public().Equal(own.Public()) || !first.Public().Equal(NewSigner(testKey(0)).Public()) {
		t.Error("keys were mixed up")
	}
	for name, s := range map[string]*Signer{"no key": first.Beside(nil), "beside none": NewSigner(nil).Beside(testKey(1))} {
		if _, err := Seal(s, "t", hello()); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What was opened stays as it is while others are opened.
func TestOpenedStays(t *testing.T) {
	s := NewSigner(testKey(0))
	v := NewVerifier(s.Public())
	var docs, before []*message.RackDoc
	for shard := range 5 {
		data, err := Seal(s, "t", rackDoc(shard, 50))
		if err != nil {
			t.Fatal(err)
		}
		shared, alone := &message.RackDoc{}, &message.RackDoc{}
		if err := errors.Join(Open(v, "t", data, shared), Open(NewVerifier(s.Public()), "t", data, alone)); err != nil {
			t.Fatal(err)
		}
		docs, before = append(docs, shared), append(before, alone)
	}
	if !reflect.DeepEqual(docs, before) {
		t.Error("what was opened before is another thing now")
	}
}

// A verifier beside another opens what its own keys sealed, also what is compressed, and nothing
// of the other's.
func TestVerifierBeside(t *testing.T) {
	first := NewVerifier(testKey(0).Public().(ed25519.PublicKey))
	beside := first.Beside(testKey(1).Public().(ed25519.PublicKey))
	for name, msg := range benchmarks() {
		for key, opens := range map[byte]*Verifier{0: first, 1: beside} {
			data, err := Seal(NewSigner(testKey(key)), "t", msg)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range []*Verifier{first, beside} {
				var got map[string]any
				if err := Open(v, "t", data, &got); (err == nil) != (v == opens) || err != nil && protocol.CodeOf(err) != protocol.CodeDenied {
					t.Errorf("%s of key %d: %v", name, key, err)
				}
			}
		}
	}
	if err := Open(first.Beside(), "t", nil, nil); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("beside, without a key: %v", err)
	}
}
