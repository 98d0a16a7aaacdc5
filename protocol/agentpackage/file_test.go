package agentpackage

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// programs are those of the tests, by architecture.
var programs = map[string]string{"amd64": "the program of x86", "arm64": "the program of Arm"}

// packaged is a whole package.
func packaged(t testing.TB) (Manifest, []byte) {
	t.Helper()
	m := manifest()
	for i, b := range m.Binaries {
		text := []byte(programs[b.Architecture])
		m.Binaries[i].SHA256, m.Binaries[i].Size = wire.Digest(text), int64(len(text))
	}
	var out bytes.Buffer
	if err := Write(&out, signed(t, m, 1), opens(programs)); err != nil {
		t.Fatal(err)
	}
	return m, out.Bytes()
}

func opens(programs map[string]string) func(Binary) (io.ReadCloser, error) {
	return func(b Binary) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader([]byte(programs[b.Architecture]))), nil
	}
}

// readAll reads a package to its end.
func readAll(data []byte) (m Manifest, got map[string]string, err error) {
	r, err := NewReader(bytes.NewReader(data))
	if err != nil {
		return m, nil, err
	}
	got = map[string]string{}
	for {
		b, in, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Manifest(), got, nil
		}
		if err != nil {
			return m, nil, err
		}
		raw, err := io.ReadAll(in)
		if err != nil {
			return m, nil, err
		}
		got[b.Architecture] = string(raw)
	}
}

func TestPackageIsReadAsWritten(t *testing.T) {
	m, data := packaged(t)
	got, read, err := readAll(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(programs, read); diff != "" {
		t.Error(diff)
	}
	_, again := packaged(t)
	if !bytes.Equal(data, again) {
		t.Error("two packages of the same are not the same bytes")
	}
}

func TestPackageOfOthers(t *testing.T) {
	m, whole := packaged(t)
	sealed := signed(t, m, 1)
	var out bytes.Buffer
	for name, other := range map[string]string{"another": "the program of XYZ", "a shorter": "the program", "a longer": "the program of x86!"} {
		err := Write(&out, sealed, opens(map[string]string{"amd64": other, "arm64": programs["arm64"]}))
		if err == nil {
			t.Errorf("%s program is packed", name)
		}
	}
	type entry struct{ name, text string }
	good := []entry{{ManifestFile, string(sealed)}, {"rackboot-agent-amd64", programs["amd64"]}, {"rackboot-agent-arm64", programs["arm64"]}}
	for name, entries := range map[string][]entry{
		"nothing":                {},
		"no manifest":            good[1:],
		"a manifest that is not": {{ManifestFile, "no manifest"}},
		"a large manifest":       {{ManifestFile, string(make([]byte, MaxManifest+1))}},
		"one program":            good[:2],
		"another order":          {good[0], good[2], good[1]},
		"one more":               append(good[:3:3], entry{"rackboot-agent-riscv64", "x"}),
		"a flipped byte":         {good[0], {"rackboot-agent-amd64", "The program of x86"}, good[2]},
		"another size":           {good[0], {"rackboot-agent-amd64", "the program of x86!"}, good[2]},
	} {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		for _, e := range entries {
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: e.name, Size: int64(len(e.text)), Mode: 0o644}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write([]byte(e.text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := readAll(out.Bytes()); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n := range len(whole) - 1024 - 511 { // a tar may lack its last two blocks, and the zeros before them
		if _, _, err := readAll(whole[:n]); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
	r, err := NewReader(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Next(); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("a program that was not read is passed over: %v", err)
	}
}

// FuzzReader feeds what somebody may call a package.
func FuzzReader(f *testing.F) {
	_, data := packaged(f)
	f.Add(data)
	f.Add([]byte("no package"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, got, err := readAll(data)
		if err != nil {
			if protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Fatal(err)
			}
			return
		}
		for _, b := range m.Binaries {
			if wire.Digest([]byte(got[b.Architecture])) != b.SHA256 {
				t.Fatal(fmt.Errorf("%s: another program than was signed", b.Architecture))
			}
		}
	})
}
