package server

import (
	"crypto/ed25519"
	"crypto/rand"
	"slices"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
)

// TestVerifiedOnce: the same bytes by the same keys are verified once, and anything else is verified anew: other bytes, also forged
// ones after good ones, and the same ones once their key is not trusted any more.
func TestVerifiedOnce(t *testing.T) {
	var signers []*wire.Signer
	var keys []*wire.Verifier
	for range 2 {
		public, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		signers, keys = append(signers, wire.NewSigner(key)), append(keys, wire.NewVerifier(public))
	}
	seal := func(by int, server string) []byte {
		raw, err := wire.Seal(signers[by], wire.FactGrant, message.Grant{Server: server})
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	n1, n2 := seal(0, "n1"), seal(0, "n2")
	forged := slices.Clone(n1)
	forged[len(forged)-1] ^= 1
	var m verified[*wire.Verifier, message.Grant]
	for i, tt := range []struct {
		by     int
		raw    []byte
		server string // that it is for; empty is denied
		looks  bool
	}{
		{0, n1, "n1", true},
		{0, n1, "n1", false},
		{0, slices.Clone(n1), "n1", false},
		{0, forged, "", true},
		{0, forged, "", false},
		{0, n1, "n1", true},
		{0, n2, "n2", true},
		{1, n2, "", true},
		{1, n2, "", false},
		{0, n2, "n2", true},
		{0, n2[:len(n2)-1], "", true},
		{1, seal(1, "n1"), "n1", true},
	} {
		looked := false
		g, err := m.open(keys[tt.by], func() *wire.Verifier {
			looked = true
			return keys[tt.by]
		}, wire.FactGrant, tt.raw)
		if looked != tt.looks || g.Server != tt.server || (tt.server == "") != (err != nil) {
			t.Errorf("%d: %q, verified %v: %v", i, g.Server, looked, err)
		}
		if err != nil && protocol.CodeOf(err) == "" {
			t.Error(err)
		}
	}
	m.raw[0] ^= 1 // what is kept is its own
	if n2[0] == m.raw[0] {
		t.Error("it keeps bytes of others")
	}
}

// TestSaidKeys: two lists of keys are never taken for one another.
func TestSaidKeys(t *testing.T) {
	seen := map[string]bool{}
	for _, keys := range [][][]byte{nil, {nil}, {nil, nil}, {[]byte("ab")}, {[]byte("a"), []byte("b")}, {[]byte("b"), []byte("a")}, {[]byte("ab"), nil}} {
		said := saidKeys(message.RackIntent{AgentKeys: keys})
		if seen[said] {
			t.Errorf("%q is said as another list is", keys)
		}
		seen[said] = true
	}
}
