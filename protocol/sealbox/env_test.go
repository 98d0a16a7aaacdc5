package sealbox

import (
	"bytes"
	"crypto/rand"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func envBinding(content []byte) EnvBinding {
	return EnvBinding{Agent: "r1-1", Server: "n1", OwnerUID: "claim-uid", Bundle: Digest(content)}
}

// A bundle opens for what it was sealed for, and for nothing else.
func TestEnvBinding(t *testing.T) {
	k, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	content := bytes.Repeat([]byte("x"), resource.MaxEnvBundle)
	sealed, err := SealEnv(k.Public(), envBinding(content), content)
	if err != nil || len(sealed) >= len(content)/10 {
		t.Fatalf("%d bytes, %v", len(sealed), err)
	}
	if got, err := k.OpenEnv(envBinding(content), sealed); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	other, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*EnvBinding){
		"agent": func(b *EnvBinding) { b.Agent = "r1-2" }, "server": func(b *EnvBinding) { b.Server = "n2" },
		"claim": func(b *EnvBinding) { b.OwnerUID = "" }, "bundle": func(b *EnvBinding) { b.Bundle = Digest(nil) },
		"borders": func(b *EnvBinding) { b.Agent, b.Server = "r1-1n", "1" },
	} {
		b := envBinding(content)
		change(&b)
		if _, err := k.OpenEnv(b, sealed); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("another %s: %v", name, err)
		}
	}
	if _, err := other.OpenEnv(envBinding(content), sealed); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("another key: %v", err)
	}
	for _, at := range []int{0, encSize - 1, encSize, len(sealed) - 1} {
		bad := bytes.Clone(sealed)
		bad[at] ^= 1
		if _, err := k.OpenEnv(envBinding(content), bad); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("byte %d flipped: %v", at, err)
		}
	}
}

// What cannot be a bundle is not sealed.
func TestSealEnvRefuses(t *testing.T) {
	k, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, resource.MaxSealedEnv)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	long := bytes.Repeat([]byte("x"), resource.MaxEnvBundle+1)
	for name, row := range map[string]struct {
		key     []byte
		binding EnvBinding
		content []byte
	}{
		"no key":         {nil, envBinding([]byte("{}")), []byte("{}")},
		"another digest": {k.Public(), envBinding(nil), []byte("{}")},
		"too long":       {k.Public(), envBinding(long), long},
		"incompressible": {k.Public(), envBinding(noise), noise},
	} {
		if _, err := SealEnv(row.key, row.binding, row.content); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzOpenEnv: nothing that was not sealed opens, and nothing panics.
func FuzzOpenEnv(f *testing.F) {
	k, err := NewKey()
	if err != nil {
		f.Fatal(err)
	}
	content := []byte("{}")
	sealed, err := SealEnv(k.Public(), envBinding(content), content)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Add(sealed[:encSize])
	f.Add(sealed)
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := k.OpenEnv(envBinding(content), raw)
		if (err == nil) != bytes.Equal(raw, sealed) || err == nil && string(got) != "{}" {
			t.Errorf("%q, %v", got, err)
		}
	})
}
