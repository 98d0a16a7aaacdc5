package wire

import (
	"bytes"
	"testing"

	"rackboot/protocol"
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
