package seal

import (
	"bytes"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-tpm/tpm2"

	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/quotetest"
	"rackboot/netboot/attest/tpmkey"
	"rackboot/protocol"
)

func storage(t testing.TB) *tpmkey.Key {
	t.Helper()
	return storageKey(t, tpm2.ECCEKTemplate)
}

func storageKey(t testing.TB, area tpm2.TPMTPublic) *tpmkey.Key {
	t.Helper()
	area.Unique = quotetest.ECDSA(t).Area.Unique
	key, err := tpmkey.Parse(tpm2.Marshal(area))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func policy() Policy {
	return Policy{Bank: eventlog.SHA256, Values: map[int][]byte{4: bytes.Repeat([]byte{4}, 32), 11: bytes.Repeat([]byte{11}, 32)}}
}

// The policy's digest is the one that a trial session of a TPM has; each part of the policy is in it.
func TestDigest(t *testing.T) {
	p := policy()
	got, err := p.digest()
	if err != nil {
		t.Fatal(err)
	}
	calculator, err := tpm2.NewPolicyCalculator(tpm2.TPMAlgSHA256)
	if err != nil {
		t.Fatal(err)
	}
	values := tpm2.TPM2BDigest{Buffer: sha256Of(p.Values[4], p.Values[11])}
	if err := (tpm2.PolicyPCR{PcrDigest: values, Pcrs: p.Selection()}).Update(calculator); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, calculator.Hash().Digest) {
		t.Errorf("%x, want %x", got, calculator.Hash().Digest)
	}
	zero, one := uint32(0), uint32(1)
	seen := [][]byte{got}
	for name, change := range map[string]func(*Policy){
		"another value":       func(p *Policy) { p.Values[4] = make([]byte, 32) },
		"another PCR":         func(p *Policy) { p.Values[5] = p.Values[4]; delete(p.Values, 4) },
		"a PCR less":          func(p *Policy) { delete(p.Values, 11) },
		"another bank":        func(p *Policy) { p.Bank = eventlog.SHA384; p.Values = map[int][]byte{4: make([]byte, 48)} },
		"the count of resets": func(p *Policy) { p.Resets = &zero },
		"another count":       func(p *Policy) { p.Resets = &one },
	} {
		p := policy()
		change(&p)
		d, err := p.digest()
		if err != nil || slices.ContainsFunc(seen, func(s []byte) bool { return bytes.Equal(s, d) }) {
			t.Errorf("%s: %x, %v", name, d, err)
		}
		seen = append(seen, d)
	}
}

func sha256Of(parts ...[]byte) []byte {
	h, _ := eventlog.SHA256.Hash()
	sum := h.New()
	for _, p := range parts {
		sum.Write(p)
	}
	return sum.Sum(nil)
}

// What is sealed is opened by its policy only, and shows nothing of the secret.
func TestWrap(t *testing.T) {
	secret := bytes.Repeat([]byte("secret"), 21)
	s, err := Wrap(rand.Reader, storage(t), secret, policy())
	if err != nil {
		t.Fatal(err)
	}
	public, err := tpm2.Unmarshal[tpm2.TPMTPublic](s.Public)
	if err != nil {
		t.Fatal(err)
	}
	want, err := policy().digest()
	if err != nil {
		t.Fatal(err)
	}
	if a := public.ObjectAttributes; !bytes.Equal(public.AuthPolicy.Buffer, want) || a != (tpm2.TPMAObject{AdminWithPolicy: true, NoDA: true}) {
		t.Errorf("%+v by %x", a, public.AuthPolicy.Buffer)
	}
	for _, part := range [][]byte{s.Public, s.Duplicate, s.Seed} {
		if bytes.Contains(part, []byte("secretsecret")) {
			t.Errorf("the secret is in %x", part)
		}
	}
	again, err := Wrap(rand.Reader, storage(t), secret, policy())
	if err != nil || bytes.Equal(again.Public, s.Public) {
		t.Errorf("who sees two of one secret, sees that it is one: %v", err)
	}
}

// movable is a storage key that another TPM may get.
func movable(t testing.TB) *tpmkey.Key {
	t.Helper()
	area := tpm2.ECCEKTemplate
	area.ObjectAttributes.FixedTPM = false
	return storageKey(t, area)
}

func TestWrapRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		parent *tpmkey.Key
		secret string
		change func(*Policy)
		want   protocol.Code
	}{
		"no secret":                         {storage(t), "", func(*Policy) {}, protocol.CodeInvalid},
		"a long secret":                     {storage(t), strings.Repeat("x", MaxSecret+1), func(*Policy) {}, protocol.CodeInvalid},
		"no PCR":                            {storage(t), "x", func(p *Policy) { p.Values = nil }, protocol.CodeInvalid},
		"SHA-1":                             {storage(t), "x", func(p *Policy) { p.Bank = eventlog.SHA1; p.Values = map[int][]byte{4: make([]byte, 20)} }, protocol.CodeInvalid},
		"a value of no bank":                {storage(t), "x", func(p *Policy) { p.Values[4] = []byte("x") }, protocol.CodeInvalid},
		"PCR 24":                            {storage(t), "x", func(p *Policy) { p.Values[24] = p.Values[4] }, protocol.CodeInvalid},
		"PCR -1":                            {storage(t), "x", func(p *Policy) { p.Values[-1] = p.Values[4] }, protocol.CodeInvalid},
		"a key that can be taken elsewhere": {movable(t), "x", func(*Policy) {}, protocol.CodeDenied},
		"a key that signs":                  {quotetest.ECDSA(t).Key, "x", func(*Policy) {}, protocol.CodeDenied},
	} {
		p := policy()
		c.change(&p)
		var e *protocol.Error
		if _, err := Wrap(rand.Reader, c.parent, []byte(c.secret), p); !errors.As(err, &e) || e.Code != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
