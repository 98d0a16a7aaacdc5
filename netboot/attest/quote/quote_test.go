package quote_test

import (
	"bytes"
	"crypto"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-tpm/tpm2"

	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/quote"
	"rackboot/netboot/attest/quotetest"
	"rackboot/netboot/attest/tpmkey"
)

func values() map[int][]byte {
	return map[int][]byte{4: bytes.Repeat([]byte{4}, 32), 7: bytes.Repeat([]byte{7}, 32), 23: make([]byte, 32)}
}

// A quote is read as the TPM made it.
func TestParse(t *testing.T) {
	for name, s := range map[string]quotetest.Signer{"ECDSA": quotetest.ECDSA(t), "RSA": quotetest.RSA(t)} {
		raw, signature := s.Quote(t, []byte("nonce"), eventlog.SHA256, values())
		q, err := quote.Parse(raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(q.PCRs, []int{4, 7, 23}) || q.Bank != eventlog.SHA256 || q.Firmware != 0x20230101 || q.Clock != (quote.Clock{Milliseconds: 1000, Resets: 7, Restarts: 1, Safe: true}) {
			t.Errorf("%s: %+v", name, q)
		}
		if got := q.SignedBy(s.Key, raw, signature); got != quote.SignedByKey {
			t.Errorf("%s: signed by %s", name, got)
		}
		if !bytes.Equal(q.Signer, s.Key.QualifiedName(tpmkey.Endorsement)) {
			t.Errorf("%s: names %x", name, q.Signer)
		}
		if !q.Of(values(), crypto.SHA256) || !q.Asked([]byte("nonce")) {
			t.Errorf("%s: is not of what it is of", name)
		}
	}
}

// What is not so is not said to be.
func TestNot(t *testing.T) {
	s, other := quotetest.ECDSA(t), quotetest.ECDSA(t)
	raw, signature := s.Quote(t, []byte("nonce"), eventlog.SHA256, values())
	q, err := quote.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if q.Asked([]byte("another")) || q.Asked(nil) || (quote.Quote{}).Asked(nil) {
		t.Error("asked with another nonce")
	}
	for name, change := range map[string]func(map[int][]byte){
		"another value": func(v map[int][]byte) { v[4] = make([]byte, 32) },
		"a value less":  func(v map[int][]byte) { delete(v, 23) },
		"values that run into each other": func(v map[int][]byte) {
			v[4], v[7] = bytes.Repeat([]byte{4}, 31), slices.Concat([]byte{4}, bytes.Repeat([]byte{7}, 32))
		},
	} {
		v := values()
		change(v)
		if q.Of(v, crypto.SHA256) {
			t.Errorf("%s: it is of it", name)
		}
	}
	if (quote.Quote{Bank: eventlog.SHA256, Digest: crypto.SHA256.New().Sum(nil)}).Of(nil, crypto.SHA256) {
		t.Error("a quote of no PCR is of anything")
	}
	otherRaw, otherSignature := other.Quote(t, []byte("nonce"), eventlog.SHA256, values())
	otherQuote, err := quote.Parse(otherRaw)
	if err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(signature)
	flipped[len(flipped)-1] ^= 1
	for name, c := range map[string]struct {
		q              quote.Quote
		raw, signature []byte
		want           quote.Signer
	}{
		"another TPM":                   {otherQuote, otherRaw, otherSignature, quote.SignedByOther},
		"a signature of another quote":  {q, raw, otherSignature, quote.SignedByNobody},
		"a signature with another bit":  {q, raw, flipped, quote.SignedByNobody},
		"no signature":                  {q, raw, nil, quote.SignedByNobody},
		"a byte behind":                 {q, raw, append(slices.Clone(signature), 0), quote.SignedByNobody},
		"too long":                      {q, raw, make([]byte, tpmkey.MaxSignature+1), quote.SignedByNobody},
		"no algorithm":                  {q, raw, []byte{0, 0x10}, quote.SignedByNobody},
		"an HMAC":                       {q, raw, append([]byte{0, 5, 0, 11}, make([]byte, 32)...), quote.SignedByNobody},
		"a signature by another scheme": {q, raw, quotetest.RSA(t).Sign(t, raw), quote.SignedByNobody},
	} {
		if got := c.q.SignedBy(s.Key, c.raw, c.signature); got != c.want {
			t.Errorf("%s: signed by %s, want %s", name, got, c.want)
		}
	}
}

// What is no quote, or of what is not proof, is refused.
func TestParseRefuses(t *testing.T) {
	s := quotetest.ECDSA(t)
	edited := func(change func(*tpm2.TPMSAttest)) []byte {
		a := s.Attest([]byte("nonce"), eventlog.SHA256, values())
		change(&a)
		return tpm2.Marshal(a)
	}
	selections := func(of ...tpm2.TPMSPCRSelection) []byte {
		return edited(func(a *tpm2.TPMSAttest) {
			a.Attested = tpm2.NewTPMUAttest(tpm2.TPMSTAttestQuote, &tpm2.TPMSQuoteInfo{PCRSelect: tpm2.TPMLPCRSelection{PCRSelections: of}})
		})
	}
	one := tpm2.TPMSPCRSelection{Hash: tpm2.TPMAlgSHA256, PCRSelect: []byte{1, 0, 0}}
	good := edited(func(*tpm2.TPMSAttest) {})
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"nothing":          {nil, "cannot be read"},
		"too long":         {make([]byte, quote.MaxSize+1), "more than"},
		"cut":              {good[:len(good)-1], "cannot be read"},
		"a byte behind":    {append(slices.Clone(good), 0), "more than one reading"},
		"signed by no TPM": {edited(func(a *tpm2.TPMSAttest) { a.Magic = 0 }), "is no quote"},
		"a certified key": {edited(func(a *tpm2.TPMSAttest) {
			a.Type = tpm2.TPMSTAttestCertify
			a.Attested = tpm2.NewTPMUAttest(tpm2.TPMSTAttestCertify, &tpm2.TPMSCertifyInfo{})
		}), "is no quote"},
		"two banks":          {selections(one, one), "2 banks"},
		"no bank":            {selections(), "0 banks"},
		"SHA-1":              {selections(tpm2.TPMSPCRSelection{Hash: tpm2.TPMAlgSHA1, PCRSelect: []byte{1, 0, 0}}), "prove nothing"},
		"PCR 24":             {selections(tpm2.TPMSPCRSelection{Hash: tpm2.TPMAlgSHA256, PCRSelect: []byte{0, 0, 0, 1}}), "PCR 24"},
		"a list without end": {append(slices.Clone(good[:len(good)-2-32-8-2]), 0xff, 0xff, 0xff, 0xff), "cannot be read"},
	} {
		if _, err := quote.Parse(c.raw); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// FuzzParse: no quote and no signature makes it fail, and none but the key's own is the key's.
func FuzzParse(f *testing.F) {
	ecc, rsa := quotetest.ECDSA(f), quotetest.RSA(f)
	good := map[string]bool{}
	for _, s := range []quotetest.Signer{ecc, rsa} {
		raw, signature := s.Quote(f, []byte("nonce"), eventlog.SHA256, values())
		good[string(raw)] = true
		f.Add(raw, signature)
	}
	f.Fuzz(func(t *testing.T, raw, signature []byte) {
		q, err := quote.Parse(raw)
		for _, s := range []quotetest.Signer{ecc, rsa} {
			if q.SignedBy(s.Key, raw, signature) == quote.SignedByKey && !good[string(raw)] {
				t.Error("a signature of what was not signed")
			}
		}
		if err == nil && (len(q.PCRs) > 24 || q.Bank.Size() == 0) {
			t.Errorf("%+v", q)
		}
	})
}
