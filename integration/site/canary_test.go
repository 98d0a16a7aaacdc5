package site

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"os"
	"slices"
	"strings"
	"testing"
)

// looked is how many bytes of a secret are looked for: its beginning, so that a part is
// found too.
const looked = 16

// known is a secret, and where it may be.
type known struct {
	name  string
	forms [][]byte
	in    []string // beginnings of paths
}

// knows has the spy look for a secret everywhere but in what begins with one of in.
func (y *spy) knows(name string, secret []byte, in ...string) {
	y.site.t.Helper()
	if len(secret) < 8 {
		y.site.t.Fatalf("%s has %d bytes, which may be anywhere", name, len(secret))
	}
	y.known = append(y.known, known{name, formsOf(secret), in})
}

// knowsKey is the same for a private key in PEM. Its second line is looked for, which the
// public key has no part of that is as long.
func (y *spy) knowsKey(name, path string) {
	t := y.site.t
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for rest := raw; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			t.Fatalf("%s has no private key", path)
		}
		if strings.Contains(block.Type, "PRIVATE KEY") {
			y.knowsDER(name, block.Bytes, path)
			return
		}
	}
}

// knowsDER is the same for a key in PKCS #8. 16 bytes come before the key of Ed25519,
// 36 before that of P-256 (RFC 8410 section 7, RFC 5915 section 3).
func (y *spy) knowsDER(name string, der []byte, in ...string) {
	y.site.t.Helper()
	from := 16
	if len(der) > 64 {
		from = 36
	}
	if len(der) < from+looked {
		y.site.t.Fatalf("%s has %d bytes", name, len(der))
	}
	y.knows(name, der[from:], in...)
	// Lines of PEM have 48 bytes each; a key that lies across two is looked for by both.
	text := base64.StdEncoding.EncodeToString(der)
	at := (from + 2) / 3 * 4
	y.knows(name+", as in PEM", []byte(text[at:min(at+looked, at/64*64+64)]), in...)
}

// formsOf are how a secret could be written.
func formsOf(secret []byte) [][]byte {
	secret = secret[:min(len(secret), looked)]
	out := [][]byte{secret, []byte(hex.EncodeToString(secret)), []byte(strings.ToUpper(hex.EncodeToString(secret)))}
	// Base64 of a text within another depends on where it begins; its ends do not count.
	for skip := range 3 {
		padded := append(make([]byte, skip), secret...)
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			text := e.EncodeToString(padded)
			out = append(out, []byte(text[4:len(text)-4]))
		}
	}
	return out
}

// finds says which secrets are in data that lies at a place.
func (y *spy) finds(place string, data []byte) (names []string) {
	for _, k := range y.known {
		if slices.ContainsFunc(k.in, func(p string) bool { return strings.HasPrefix(place, p) }) {
			continue
		}
		if slices.ContainsFunc(k.forms, func(f []byte) bool { return bytes.Contains(data, f) }) {
			names = append(names, k.name)
		}
	}
	return names
}

// read looks at something that was shown or stored.
func (y *spy) read(place string, data []byte) {
	y.site.t.Helper()
	for _, name := range y.finds(place, data) {
		y.site.t.Errorf("%s is in %s", name, place)
	}
}

// heard looks at an error, which must be one.
func (y *spy) heard(what string, err error) {
	y.site.t.Helper()
	if err == nil {
		y.site.t.Errorf("%s: done", what)
		return
	}
	y.read("the error of "+what, []byte(err.Error()))
}

// What looks for leaks finds them.
func TestLeaksAreFound(t *testing.T) {
	t.Parallel()
	y := &spy{site: &site{t: t}}
	y.knows("it", []byte(firstCanary), "/its/own")
	for _, before := range []string{"", "a", "ab", "abc"} {
		text := []byte(before + firstCanary)
		for form, data := range map[string][]byte{
			"clear": text, "hex": []byte(hex.EncodeToString(text)), "HEX": []byte(strings.ToUpper(hex.EncodeToString(text))),
			"base64": []byte(base64.StdEncoding.EncodeToString(text)), "base64 of URLs": []byte(base64.RawURLEncoding.EncodeToString(text)),
		} {
			if len(y.finds("/elsewhere", data)) != 1 {
				t.Errorf("%s after %q is not found", form, before)
			}
			if len(y.finds("/its/own/file", data)) != 0 {
				t.Errorf("%s after %q is found where it belongs", form, before)
			}
		}
	}
	if len(y.finds("/elsewhere", []byte("canary-1111"))) != 0 {
		t.Error("something else is found")
	}
}
