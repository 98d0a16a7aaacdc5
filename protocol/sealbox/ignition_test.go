package sealbox

import (
	"bytes"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func ignitionBinding() IgnitionBinding {
	return IgnitionBinding{Agent: "r1-1", Server: "n1", OwnerUID: "claim-uid", IgnitionRef: resource.IgnitionRef{Secret: "s", UID: "u", Version: 2, Digest: "d"}}
}

// User data opens for what it was sealed for, and for nothing else.
func TestIgnitionBinding(t *testing.T) {
	k, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	content := bytes.Repeat([]byte("x"), resource.MaxIgnition)
	sealed, err := SealIgnition(k.Public(), ignitionBinding(), content)
	if err != nil || len(sealed) != len(content)+message.SealedOverhead {
		t.Fatalf("%d bytes, %v", len(sealed), err)
	}
	if got, err := k.OpenIgnition(ignitionBinding(), sealed); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	other, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*IgnitionBinding){
		"agent": func(b *IgnitionBinding) { b.Agent = "r1-2" }, "server": func(b *IgnitionBinding) { b.Server = "n2" },
		"claim": func(b *IgnitionBinding) { b.OwnerUID = "" }, "secret": func(b *IgnitionBinding) { b.Secret = "t" },
		"uid": func(b *IgnitionBinding) { b.UID = "v" }, "version": func(b *IgnitionBinding) { b.Version = 1 },
		"digest":  func(b *IgnitionBinding) { b.Digest = "e" },
		"borders": func(b *IgnitionBinding) { b.Agent, b.Server = "r1-1n", "1" },
	} {
		b := ignitionBinding()
		change(&b)
		if _, err := k.OpenIgnition(b, sealed); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("another %s: %v", name, err)
		}
	}
	if _, err := other.OpenIgnition(ignitionBinding(), sealed); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("another key: %v", err)
	}
	for _, at := range []int{0, encSize - 1, encSize, len(sealed) - 1} {
		bad := bytes.Clone(sealed)
		bad[at] ^= 1
		if _, err := k.OpenIgnition(ignitionBinding(), bad); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("byte %d flipped: %v", at, err)
		}
	}
	if _, err := SealIgnition(k.Public(), ignitionBinding(), append(content, 'x')); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("too long: %v", err)
	}
}

// FuzzOpenIgnition: nothing that was not sealed opens, and nothing panics.
func FuzzOpenIgnition(f *testing.F) {
	k, err := NewKey()
	if err != nil {
		f.Fatal(err)
	}
	sealed, err := SealIgnition(k.Public(), ignitionBinding(), []byte("{}"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Add(sealed[:encSize])
	f.Add(sealed)
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := k.OpenIgnition(ignitionBinding(), raw)
		if (err == nil) != bytes.Equal(raw, sealed) || err == nil && string(got) != "{}" {
			t.Errorf("%q, %v", got, err)
		}
	})
}
