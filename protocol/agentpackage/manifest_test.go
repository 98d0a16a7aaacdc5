package agentpackage

import (
	"bytes"
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// key is the n-th key of the tests.
func key(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

func public(n byte) ed25519.PublicKey { return key(n).Public().(ed25519.PublicKey) }

func manifest() Manifest {
	return Manifest{
		Version: "1.4.0", Protocol: 1, From: "1.2.0", MadeAt: time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC),
		Binaries: []Binary{
			{Architecture: "amd64", SHA256: "sha256:" + strings.Repeat("a", 64), Size: 60 << 20},
			{Architecture: "arm64", SHA256: "sha256:" + strings.Repeat("b", 64), Size: 58 << 20},
		},
	}
}

func signed(t testing.TB, m Manifest, n byte) []byte {
	t.Helper()
	data, err := Sign(m, key(n))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestOpen(t *testing.T) {
	good := signed(t, manifest(), 1)
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 1
	elsewhere, err := wire.Seal(wire.NewSigner(key(1)), wire.FactGrant, manifest())
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		data []byte
		keys []ed25519.PublicKey
		code protocol.Code // empty: it opens
	}{
		"by the key":                     {good, []ed25519.PublicKey{public(1)}, ""},
		"by one of two keys":             {good, []ed25519.PublicKey{public(2), public(1)}, ""},
		"by another key":                 {good, []ed25519.PublicKey{public(2)}, protocol.CodeDenied},
		"without keys":                   {good, nil, protocol.CodeDenied},
		"a changed byte":                 {flipped, []ed25519.PublicKey{public(1)}, protocol.CodeDenied},
		"signed for something else":      {elsewhere, []ed25519.PublicKey{public(1)}, protocol.CodeDenied},
		"cut short":                      {good[:len(good)-1], []ed25519.PublicKey{public(1)}, protocol.CodeInvalid},
		"with something behind":          {append(bytes.Clone(good), 0), []ed25519.PublicKey{public(1)}, protocol.CodeInvalid},
		"empty":                          {nil, []ed25519.PublicKey{public(1)}, protocol.CodeInvalid},
		"too large":                      {make([]byte, MaxManifest+1), []ed25519.PublicKey{public(1)}, protocol.CodeInvalid},
		"a key that is none beside good": {good, []ed25519.PublicKey{{1}, public(1)}, ""},
	} {
		m, err := Open(row.data, row.keys)
		if protocol.CodeOf(err) != row.code || err == nil && row.code != "" {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			if diff := cmp.Diff(manifest(), m); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		} else if m.Version != "" {
			t.Errorf("%s: something of %+v is given in spite of the error", name, m)
		}
	}
}

// Read shows who did not sign, and what Open refuses for its form Read refuses too.
func TestReadShowsWhatAnybodySigned(t *testing.T) {
	m, err := Read(signed(t, manifest(), 9))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(manifest(), m); diff != "" {
		t.Error(diff)
	}
	if _, err := Read([]byte("no manifest")); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("%v", err)
	}
}

func TestCheck(t *testing.T) {
	for name, change := range map[string]func(*Manifest){
		"no version":                 func(m *Manifest) { m.Version = "" },
		"a version of two numbers":   func(m *Manifest) { m.Version = "1.4" },
		"a version with a line":      func(m *Manifest) { m.Version = "1.4.0-a\nb" },
		"a long version":             func(m *Manifest) { m.Version = "1.4.0-" + strings.Repeat("a", maxVersion) },
		"a lowest version of words":  func(m *Manifest) { m.From = "any" },
		"no protocol":                func(m *Manifest) { m.Protocol = 0 },
		"no time":                    func(m *Manifest) { m.MadeAt = time.Time{} },
		"no program":                 func(m *Manifest) { m.Binaries = nil },
		"an architecture twice":      func(m *Manifest) { m.Binaries[1].Architecture = "amd64" },
		"an architecture with slash": func(m *Manifest) { m.Binaries[1].Architecture = "../arm64" },
		"no architecture":            func(m *Manifest) { m.Binaries[1].Architecture = "" },
		"another digest":             func(m *Manifest) { m.Binaries[1].SHA256 = strings.Repeat("a", 64) },
		"an empty program":           func(m *Manifest) { m.Binaries[0].Size = 0 },
		"a large program":            func(m *Manifest) { m.Binaries[0].Size = MaxBinary + 1 },
		"too many programs": func(m *Manifest) {
			m.Binaries = nil
			for c := range byte(MaxBinaries + 1) {
				m.Binaries = append(m.Binaries, Binary{Architecture: "a" + string('a'+rune(c)), SHA256: manifest().Binaries[0].SHA256, Size: 1})
			}
		},
	} {
		m := manifest()
		change(&m)
		if _, err := Sign(m, key(1)); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: signed: %v", name, err)
		}
		// A publisher whose tools are others.
		data, err := wire.Seal(wire.NewSigner(key(1)), Purpose, m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(data, []ed25519.PublicKey{public(1)}); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: opened: %v", name, err)
		}
		if _, err := Read(data); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: read: %v", name, err)
		}
	}
	if _, err := Sign(manifest(), nil); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("signed without a key: %v", err)
	}
}

func TestFor(t *testing.T) {
	if b, ok := manifest().For("arm64"); !ok || b.Size != 58<<20 {
		t.Errorf("%+v", b)
	}
	if b, ok := manifest().For("riscv64"); ok {
		t.Errorf("%+v", b)
	}
}

// The order of Semantic Versioning 2.0.0 §11.
func TestCompare(t *testing.T) {
	order := []string{"0.1.0-dev", "0.1.0", "0.2.0", "0.10.0", "1.0.0-1", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1"}
	for i, a := range order {
		for j, b := range order {
			got, ok := Compare(a, "v"+b+"+build.7")
			if !ok || got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%s and %s: %d, %t", a, b, got, ok)
			}
		}
	}
	for _, bad := range []string{"", "v", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.x", "1.2.3-", "1.2.3-a..b", "1.2.3+", "-1.2.3", "1.2.3-ä", "99999999999.0.0"} {
		if _, ok := Compare(bad, "1.0.0"); ok {
			t.Errorf("%q is a version", bad)
		}
	}
}

func TestFollows(t *testing.T) {
	for _, row := range []struct {
		from, running string
		want          bool
	}{
		{"", "unknown", true},
		{"1.2.0", "1.2.0", true},
		{"1.2.0", "1.3.0", true},
		{"1.2.0", "2.0.0", true}, // a way back that the publisher allows
		{"1.2.0", "1.1.9", false},
		{"1.2.0", "1.2.0-rc.1", false},
		{"1.2.0", "(devel)", false},
	} {
		if got := (Manifest{From: row.from}).Follows(row.running); got != row.want {
			t.Errorf("%+v: %t", row, got)
		}
	}
}

// FuzzRead feeds what a hub stores for whoever uploads it.
func FuzzRead(f *testing.F) {
	f.Add(signed(f, manifest(), 1))
	f.Add([]byte{0xd2, 0x84, 0x40, 0xa0, 0x40, 0x40})
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(data)
		if err != nil {
			if protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Fatal(err)
			}
			return
		}
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		again, err := Sign(m, key(1))
		if err != nil {
			t.Fatalf("%+v is read and cannot be signed: %v", m, err)
		}
		if other, err := Open(again, []ed25519.PublicKey{public(1)}); err != nil || !cmp.Equal(m, other) {
			t.Fatalf("%+v became %+v: %v", m, other, err)
		}
	})
}

// FuzzReadSigned feeds contents, since no fuzzer finds envelopes.
func FuzzReadSigned(f *testing.F) {
	f.Add("1.4.0", "1.2.0", "amd64", "sha256:"+strings.Repeat("a", 64), int64(1), 1)
	f.Fuzz(func(t *testing.T, v, from, arch, digest string, size int64, protocolVersion int) {
		m := Manifest{Version: v, From: from, Protocol: protocolVersion, MadeAt: manifest().MadeAt, Binaries: []Binary{{arch, digest, size}}}
		data, err := wire.Seal(wire.NewSigner(key(1)), Purpose, m)
		if err != nil {
			return // text that is not UTF-8, or too much of it
		}
		got, err := Open(data, []ed25519.PublicKey{public(1)})
		if err != nil {
			if protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Fatal(err)
			}
			return
		}
		if got.Check() != nil || BinaryFile(got.Binaries[0].Architecture) != "rackboot-agent-"+arch || strings.ContainsAny(arch, "/.\x00\n") {
			t.Fatalf("%+v", got)
		}
	})
}
