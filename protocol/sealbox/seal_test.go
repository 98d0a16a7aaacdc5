package sealbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

const canary = "canary-9f1c-password"

func exampleKey(t testing.TB) *Key {
	t.Helper()
	raw := sha256.Sum256([]byte("rackboot example seal key"))
	k, err := ParseKey(raw[:])
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func exampleBinding() Binding {
	return Binding{Agent: "rack-1", BMC: "bmc-01", Secret: "bmc", UID: "01k5secret", Version: 3}
}

func credentials(password string) message.BMCCredentials {
	return message.BMCCredentials{BMCAccount: resource.BMCAccount{Username: "admin", Password: password}}
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// golden was sealed once, for exampleKey and exampleBinding.
func golden(t testing.TB) *message.SealedCredentials {
	t.Helper()
	return &message.SealedCredentials{
		Secret: "bmc", UID: "01k5secret", Version: 3,
		Enc: unhex(t, "c03ce12ad441ae4a00f167cc213868dcb164a3cc4e858884540542aa38e88c0e"),
		Ciphertext: unhex(t, "8e2177474d6f612cfa98bb073f8ce6086c8a0fb5456cde4f91a3e66ee09195c515b8944033d60012af6b411aa5470ab7"+
			"a65abde3ef3373e91b2df24fade2c13dc8590ea3bb93473836601a38f6b1aad6"),
	}
}

// The format is fixed: what an earlier release has sealed and stored still opens.
func TestGolden(t *testing.T) {
	const aad = "000000147261636b626f6f742063726564656e7469616c73000000067261636b2d3100000006626d632d303100000003626d63" +
		"0000000a30316b35736563726574000000080000000000000003"
	if got := hex.EncodeToString(exampleBinding().AAD()); got != aad {
		t.Errorf("the additional data are %s, want %s", got, aad)
	}
	k := exampleKey(t)
	if got := hex.EncodeToString(k.Public()); got != "1aac11d29c1ecbc96cad4ebe9e29c3b3c8ac7b5e69e3fff94ebd44faf8620f77" {
		t.Errorf("the public key is %s", got)
	}
	s := golden(t)
	got, err := k.Open(exampleBinding(), s)
	if err != nil || got != credentials("example") {
		t.Errorf("opened to another account (%v)", err)
	}
}

// No two bindings have one encoding, also where a field's end is another's beginning.
func TestAADIsUnambiguous(t *testing.T) {
	seen := map[string]Binding{}
	for _, b := range []Binding{
		{},
		{Agent: "a"},
		{BMC: "a"},
		{Secret: "a"},
		{UID: "a"},
		{Version: 1},
		{Version: 1 << 56},
		{Agent: "ab"},
		{Agent: "a", BMC: "b"},
		{Agent: "a", BMC: "", Secret: "b"},
		{Agent: "a\x00\x00\x00\x01b"},
		{Agent: "a", BMC: "\x00\x00\x00\x01b"},
	} {
		if other, twice := seen[string(b.AAD())]; twice {
			t.Errorf("%+v and %+v have the same", b, other)
		}
		seen[string(b.AAD())] = b
	}
}

// Each row is somebody who has a sealed account and wants it to be opened.
func TestAttackers(t *testing.T) {
	k, b := exampleKey(t), exampleBinding()
	other, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := Seal(k.Public(), b, credentials(canary))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		key    *Key
		change func(*Binding, *message.SealedCredentials)
	}{
		{"another agent's key", other, func(*Binding, *message.SealedCredentials) {}},
		{"another agent's name", k, func(b *Binding, _ *message.SealedCredentials) { b.Agent = "rack-2" }},
		{"at another BMC", k, func(b *Binding, _ *message.SealedCredentials) { b.BMC = "bmc-02" }},
		{"as another secret", k, func(b *Binding, s *message.SealedCredentials) { b.Secret, s.Secret = "x", "x" }},
		{"as a later secret of the name", k, func(b *Binding, s *message.SealedCredentials) { b.UID, s.UID = "x", "x" }},
		{"an older version as the present one", k, func(b *Binding, s *message.SealedCredentials) { b.Version, s.Version = 4, 4 }},
		{"labelled otherwise than what is asked for", k, func(_ *Binding, s *message.SealedCredentials) { s.Version = 4 }},
		{"a flipped bit of the key", k, func(_ *Binding, s *message.SealedCredentials) { s.Enc[3] ^= 1 }},
		{"a flipped bit of the text", k, func(_ *Binding, s *message.SealedCredentials) { s.Ciphertext[0] ^= 1 }},
		{"a flipped bit of the tag", k, func(_ *Binding, s *message.SealedCredentials) { s.Ciphertext[len(s.Ciphertext)-1] ^= 1 }},
		{"cut short", k, func(_ *Binding, s *message.SealedCredentials) { s.Ciphertext = s.Ciphertext[:20] }},
		{"nothing", k, func(_ *Binding, s *message.SealedCredentials) { s.Ciphertext = nil }},
		{"no key", k, func(_ *Binding, s *message.SealedCredentials) { s.Enc = nil }},
		{"a key of low order (RFC 7748, section 6.1)", k, func(_ *Binding, s *message.SealedCredentials) { clear(s.Enc) }},
		{"far too long", k, func(_ *Binding, s *message.SealedCredentials) { s.Ciphertext = make([]byte, message.MaxSealed+1) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			as, s := b, *sealed
			s.Enc, s.Ciphertext = bytes.Clone(s.Enc), bytes.Clone(s.Ciphertext)
			row.change(&as, &s)
			got, err := row.key.Open(as, &s)
			if protocol.CodeOf(err) != protocol.CodeDenied || protocol.HintOf(err) == "" || got != (message.BMCCredentials{}) {
				t.Errorf("code %q, hint %q", protocol.CodeOf(err), protocol.HintOf(err))
			}
			if err != nil && strings.Contains(err.Error(), canary) {
				t.Error("the error tells the password")
			}
		})
	}
	if _, err := k.Open(b, nil); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("nil: %v", err)
	}
	if got, err := k.Open(b, sealed); err != nil || got != credentials(canary) {
		t.Errorf("the right one does not open: %v", err)
	}
}

// The length of a password is not to be read from what is sealed, and the longest fits.
func TestLengths(t *testing.T) {
	k, b := exampleKey(t), exampleBinding()
	short, err := Seal(k.Public(), b, credentials("a"))
	if err != nil {
		t.Fatal(err)
	}
	longer, err := Seal(k.Public(), b, credentials("abcdefghijkl"))
	if err != nil || len(short.Ciphertext) != len(longer.Ciphertext) {
		t.Errorf("%d bytes and %d (%v)", len(short.Ciphertext), len(longer.Ciphertext), err)
	}
	// Each byte of the longest account is one that JSON writes in two.
	most := resource.BMCAccount{Username: strings.Repeat(`"`, resource.MaxSecretUsername), Password: strings.Repeat(`"`, resource.MaxSecretPassword)}
	if _, err := Seal(k.Public(), b, message.BMCCredentials{BMCAccount: most}); err != nil {
		t.Errorf("the longest account: %v", err)
	}
	if _, err := Seal([]byte("short"), b, credentials("a")); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("a key that is none: %v", err)
	}
}

// Nothing that prints has the key.
func TestKeyIsNotPrinted(t *testing.T) {
	k := exampleKey(t)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		if got := fmt.Sprintf(verb, k); got != ID(k.Public()) {
			t.Errorf("%s prints %s", verb, got)
		}
	}
	again, err := ParseKey(k.Bytes())
	if err != nil || !bytes.Equal(again.Public(), k.Public()) {
		t.Errorf("read back: %v", err)
	}
	if _, err := ParseKey([]byte("short")); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("got %v", err)
	}
	one, err := k.Derive("one")
	if err != nil {
		t.Fatal(err)
	}
	two, err := k.Derive("two")
	if err != nil || bytes.Equal(one, two) || bytes.Equal(one, k.Bytes()) {
		t.Errorf("two purposes have one key (%v)", err)
	}
}

// Whatever comes is refused, or is what was sealed.
func FuzzOpen(f *testing.F) {
	k, b := exampleKey(f), exampleBinding()
	s := golden(f)
	f.Add(s.Enc, s.Ciphertext)
	f.Add([]byte{}, []byte{})
	f.Add(make([]byte, encSize), make([]byte, 16))
	f.Fuzz(func(t *testing.T, enc, text []byte) {
		got, err := k.Open(b, &message.SealedCredentials{Secret: b.Secret, UID: b.UID, Version: b.Version, Enc: enc, Ciphertext: text})
		if err == nil && got.Username == "" {
			t.Error("opened to no account")
		}
		if same := bytes.Equal(enc, s.Enc) && bytes.Equal(text, s.Ciphertext); err == nil && got == credentials("example") && !same {
			t.Error("other bytes give the same account")
		}
	})
}
