package enrol_test

import (
	"bytes"
	"testing"

	"rackboot/netboot/attest/enrol"
	"rackboot/netboot/attest/quotetest"
)

// Whatever a machine offers, what is taken of it can be challenged, and is what it said.
func FuzzOffer(f *testing.F) {
	f.Add([]byte(`{"endorsement":"AAE=","attestation":"AAE=","new":1}`))
	f.Add([]byte(`{"secret":null}`))
	f.Add(bytes.Repeat([]byte("["), enrol.MaxMessage+1))
	area := quotetest.ECDSA(f).Key.Area()
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := enrol.DecodeOffer(raw)
		if err != nil && (o.Endorsement != nil || o.Attestation != nil || o.Certificate != nil) {
			t.Errorf("an error and an offer: %v", err)
		}
		if len(raw) > enrol.MaxMessage && err == nil {
			t.Error("it is too long, and was read")
		}
		o.Attestation = area
		if endorsement, attestation, fault := o.Keys(); fault == enrol.NoFault && (!bytes.Equal(endorsement.Area(), o.Endorsement) || !bytes.Equal(attestation.Area(), area)) {
			t.Error("other keys than were offered")
		} else if fault != enrol.NoFault && (endorsement != nil || attestation != nil) {
			t.Errorf("a key in spite of %s", fault)
		}
		_, _ = enrol.DecodeAnswer(raw)    // must not panic
		_, _ = enrol.DecodeChallenge(raw) // must not panic
	})
}
