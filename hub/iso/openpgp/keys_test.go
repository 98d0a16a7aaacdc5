package openpgp

import (
	"bytes"
	"crypto"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"rackboot/protocol"
)

func at(year int) func() time.Time {
	return func() time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
}

// entity is a signer whose key was made in 2020 and lives so many years; 0 is for ever.
func entity(t testing.TB, name string, years uint32) *openpgp.Entity {
	t.Helper()
	e, err := openpgp.NewEntity(name, "", name+"@example.com", &packet.Config{Time: at(2020), Algorithm: packet.PubKeyAlgoEdDSA, KeyLifetimeSecs: years * 365 * 24 * 3600})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func public(t testing.TB, armored bool, list ...*openpgp.Entity) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, e := range list {
		var w io.WriteCloser = nopCloser{&out}
		if armored {
			var err error
			if w, err = armor.Encode(&out, openpgp.PublicKeyType, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(e.Serialize(w), w.Close()); err != nil {
			t.Fatal(err)
		}
		if armored {
			out.WriteString("\n")
		}
	}
	return out.Bytes()
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func sign(t testing.TB, e *openpgp.Entity, content string, year int, armored bool, hash crypto.Hash) []byte {
	t.Helper()
	var out bytes.Buffer
	c := &packet.Config{Time: at(year), DefaultHash: hash}
	f := openpgp.DetachSign
	if armored {
		f = openpgp.ArmoredDetachSign
	}
	if err := f(&out, e, strings.NewReader(content), c); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestSignatures(t *testing.T) {
	debian, fedora, old := entity(t, "Debian CD", 0), entity(t, "Fedora", 0), entity(t, "Old", 2)
	const content = "an ISO file"
	for _, row := range []struct {
		name      string
		ring, sig []byte
		content   string
		known     protocol.Code
		wrong     string // of Check
	}{
		{"binary", public(t, false, debian), sign(t, debian, content, 2024, false, crypto.SHA512), content, "", ""},
		{"armored, one of several", public(t, true, fedora, debian), sign(t, debian, content, 2024, true, crypto.SHA256), content, "", ""},
		{"changed content", public(t, true, debian), sign(t, debian, content, 2024, true, crypto.SHA256), content + ".", "", "signature"},
		{"an unknown key", public(t, true, fedora), sign(t, debian, content, 2024, true, crypto.SHA256), content, protocol.CodeDenied, "not known"},
		{"a key that has expired", public(t, true, old), sign(t, old, content, 2021, true, crypto.SHA256), content, "", "expired"},
		{"a key as a signature", public(t, true, debian), public(t, true, debian), content, protocol.CodeInvalid, "not a"},
		{"text", public(t, true, debian), []byte("6bbc  debian.iso\n"), content, protocol.CodeInvalid, ""},
		{"nothing", public(t, true, debian), nil, content, protocol.CodeInvalid, "not known"},
	} {
		t.Run(row.name, func(t *testing.T) {
			k, err := Verifier{}.Keys(row.ring)
			if err != nil {
				t.Fatal(err)
			}
			if err := k.Known(row.sig); protocol.CodeOf(err) != row.known || err != nil && protocol.HintOf(err) == "" {
				t.Errorf("known: %v", err)
			}
			key, by, err := k.Check(strings.NewReader(row.content), row.sig, at(2025)())
			if row.known == "" && row.wrong == "" {
				if err != nil || len(key) < 40 || key != strings.ToUpper(key) || !strings.Contains(by, "Debian CD") {
					t.Errorf("%s, %s, %v", key, by, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), row.wrong) {
				t.Errorf("check: %v", err)
			}
		})
	}
}

// A signature by a hash that can be forged is none.
func TestWeakHash(t *testing.T) {
	e := entity(t, "Debian CD", 0)
	k, err := Verifier{}.Keys(public(t, false, e))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = openpgp.DetachSign(&out, e, strings.NewReader("x"), &packet.Config{Time: at(2024), DefaultHash: crypto.SHA1})
	if err == nil { // else the library does not make one either
		_, _, err = k.Check(strings.NewReader("x"), out.Bytes(), at(2025)())
	}
	if err == nil {
		t.Error("SHA-1 is good")
	}
}

func TestKeyrings(t *testing.T) {
	e := entity(t, "Debian CD", 0)
	var private bytes.Buffer
	if err := e.SerializePrivate(&private, nil); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		ring []byte
		want string
	}{
		"nothing":       {nil, "0 keys"},
		"text":          {[]byte("debian"), "cannot be read"},
		"private":       {private.Bytes(), "private key"},
		"a signature":   {sign(t, e, "x", 2024, true, crypto.SHA256), "not a"},
		"cut off":       {public(t, false, e)[:40], "cannot be read"},
		"broken armour": {[]byte("-----BEGIN PGP PUBLIC KEY BLOCK-----\n"), "cannot be read"},
	} {
		if _, err := (Verifier{}).Keys(row.ring); protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.want) || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A signature with an "exportable certification" that has no octet (RFC 9580, section
// 5.2.3.19) makes the library panic, wherever it is read; the hub goes on.
func TestPacketThatPanics(t *testing.T) {
	broken := []byte{
		0xc0 | 2, 12, // packet: signature
		4, 0, 22, 8, // version, type, public key and hash algorithm
		0, 2, 1, 4, // hashed subpackets: the type alone
		0, 0, 0, 0, // no others; the hash begins with zeros
	}
	e := entity(t, "Debian CD", 0)
	ring := public(t, false, e)
	if _, err := (Verifier{}).Keys(slices.Concat(ring, broken)); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
		t.Errorf("in a keyring: %v", err)
	}
	k, err := Verifier{}.Keys(ring)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Known(broken); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("as a signature: %v", err)
	}
	if _, _, err := k.Check(strings.NewReader("x"), broken, at(2025)()); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("checked: %v", err)
	}
}

func TestPrintable(t *testing.T) {
	if got := printable("Debian\x1b[31m CD\n"); got != "Debian[31m CD" {
		t.Errorf("%q", got)
	}
	if got := printable(strings.Repeat("ä", 200)); len(got) != maxSigner {
		t.Errorf("%d bytes", len(got))
	}
}

// Signatures and keyrings come from outside.
func FuzzSignature(f *testing.F) {
	e := entity(f, "Debian CD", 0)
	ring := public(f, true, e)
	f.Add(ring, sign(f, e, "x", 2024, true, crypto.SHA256), []byte("x"))
	f.Add(public(f, false, e), sign(f, e, "x", 2024, false, crypto.SHA256), []byte("y"))
	f.Add([]byte("-----BEGIN"), []byte("-----BEGIN"), []byte(nil))
	f.Fuzz(func(t *testing.T, ring, sig, content []byte) {
		k, err := Verifier{}.Keys(ring)
		if err != nil {
			return
		}
		known := k.Known(sig)
		if _, _, err := k.Check(bytes.NewReader(content), sig, at(2025)()); err == nil && known != nil {
			t.Fatalf("good, and not known: %v", known)
		}
	})
}

// A binary keyring is read to its last byte, whichever that is: one in forty keys ends in
// what would be white space in a text.
func TestBinaryEnds(t *testing.T) {
	for range 200 {
		ring := public(t, false, entity(t, "Debian CD", 0))
		if _, err := (Verifier{}).Keys(ring); err != nil {
			t.Fatalf("a keyring that ends in %#02x: %v", ring[len(ring)-1], err)
		}
	}
}
