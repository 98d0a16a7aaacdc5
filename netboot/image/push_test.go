package image

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rackboot/netboot/iso/isotest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// write puts a file where parts are read from.
func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPush: what was pushed is resolved, inspected and pulled as a server would, for each
// architecture by the digest that was printed.
func TestPush(t *testing.T) {
	uki := append(unified(machineAMD64), make([]byte, 3<<20)...)
	amd := Parts{Architecture: "amd64", UKI: write(t, "os.efi", uki)}
	arm := Parts{Architecture: "arm64", Kernel: write(t, "kernel", unified(machineARM64)), Initramfs: write(t, "initramfs", []byte("070701")), CommandLine: "console=ttyAMA0"}
	dir := filepath.Join(t.TempDir(), "layout")
	for _, p := range []Parts{amd, {Architecture: "arm64", UKI: write(t, "old.efi", unified(machineARM64))}, arm} {
		if _, err := Build(dir, p); err != nil {
			t.Fatal(err)
		}
	}
	fromLayout, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	fromFiles, err := New(amd, arm)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]*Index{"layout": fromLayout, "files": fromFiles} {
		if got := x.Architectures(); !slices.Equal(got, []string{"amd64", "arm64"}) {
			t.Fatalf("%s: %v", name, got)
		}
		r := newRegistry(t)
		var done, total int64
		digest, err := x.Push(t.Context(), r.ref("1"), Options{}, func(d, n int64) { done, total = d, n })
		if err != nil || !strings.HasPrefix(digest, "sha256:") {
			t.Fatalf("%s: %q, %v", name, digest, err)
		}
		if done != total || total < int64(len(uki)) {
			t.Errorf("%s: %d of %d bytes", name, done, total)
		}
		for arch, want := range x.Digests {
			img, err := Resolve(t.Context(), r.ref("1"), arch, Options{})
			if err != nil || img.Digest != want {
				t.Fatalf("%s, %s: %s, want %s, %v", name, arch, img.Digest, want, err)
			}
			if err := Inspect(t.Context(), img, Options{}); err != nil {
				t.Errorf("%s, %s: %v", name, arch, err)
			}
			if line := map[string]string{"arm64": "console=ttyAMA0"}[arch]; img.CommandLine != line {
				t.Errorf("%s, %s: command line %q", name, arch, img.CommandLine)
			}
		}
	}
	if fromLayout.Digests["arm64"] != fromFiles.Digests["arm64"] {
		t.Error("the layout kept what was replaced")
	}
}

// TestPushISO: an ISO image is one too.
func TestPushISO(t *testing.T) {
	raw := isotest.New("BOOTX64.EFI")
	x, err := New(Parts{Architecture: "amd64", ISO: write(t, "os.iso", raw.Bytes())})
	if err != nil {
		t.Fatal(err)
	}
	r := newRegistry(t)
	if _, err := x.Push(t.Context(), r.ref("iso"), Options{}, nil); err != nil {
		t.Fatal(err)
	}
	img, err := Resolve(t.Context(), r.ref("iso"), "amd64", Options{})
	if _, ok := img.Artefact(resource.ArtefactISO); err != nil || !ok {
		t.Errorf("%+v, %v", img, err)
	}
}

// TestPartsRefused: what no server boots is refused before anything is written, with what
// to do.
func TestPartsRefused(t *testing.T) {
	efi := write(t, "os.efi", unified(machineAMD64))
	for name, c := range map[string]struct {
		parts Parts
		code  protocol.Code
		says  string
	}{
		"no architecture":          {Parts{UKI: efi}, protocol.CodeInvalid, "is not amd64"},
		"nothing":                  {Parts{Architecture: "amd64"}, protocol.CodeInvalid, "no complete way"},
		"a kernel alone":           {Parts{Architecture: "amd64", Kernel: efi}, protocol.CodeInvalid, "no complete way"},
		"another architecture":     {Parts{Architecture: "arm64", UKI: efi}, protocol.CodeInvalid, "is for amd64"},
		"a text as UKI":            {Parts{Architecture: "amd64", UKI: write(t, "x", []byte("hello, world"))}, protocol.CodeInvalid, "cannot be booted"},
		"an empty file":            {Parts{Architecture: "amd64", UKI: write(t, "x", nil)}, protocol.CodeInvalid, "no PE image"},
		"no such file":             {Parts{Architecture: "amd64", UKI: "/nowhere/os.efi"}, protocol.CodeNotFound, "/nowhere/os.efi"},
		"a folder":                 {Parts{Architecture: "amd64", UKI: t.TempDir()}, protocol.CodeInvalid, "no ordinary file"},
		"a UKI with an outer line": {Parts{Architecture: "amd64", UKI: efi, CommandLine: "quiet"}, protocol.CodeInvalid, "no kernel"},
		"a line with a line end":   {Parts{Architecture: "amd64", Kernel: efi, Initramfs: efi, CommandLine: "a\nb"}, protocol.CodeInvalid, "command line"},
		"an ISO that is none":      {Parts{Architecture: "amd64", ISO: efi}, protocol.CodeInvalid, "os.efi"},
	} {
		dir := filepath.Join(t.TempDir(), "layout")
		_, err := Build(dir, c.parts)
		if protocol.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s with %q", name, err, c.code, c.says)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: something was written", name)
		}
	}
	if _, err := Open(t.TempDir()); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := New(Parts{Architecture: "amd64", UKI: efi}, Parts{Architecture: "amd64", UKI: efi}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("twice: %v", err)
	}
}

// TestPushFails: a registry that refuses, and a file that changed after it was read.
func TestPushFails(t *testing.T) {
	file := write(t, "os.efi", unified(machineAMD64))
	x, err := New(Parts{Architecture: "amd64", UKI: file})
	if err != nil {
		t.Fatal(err)
	}
	r := newRegistry(t)
	r.misbehave(func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusForbidden); return true })
	if _, err := x.Push(t.Context(), r.ref("1"), Options{}, func(int64, int64) {}); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("refused: %v", err)
	}
	r.misbehave(nil)
	if err := os.WriteFile(file, bytes.Repeat([]byte("x"), len(unified(machineAMD64))), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Push(t.Context(), r.ref("1"), Options{}, nil); err == nil {
		t.Error("a file that changed was pushed")
	}
	if _, err := Resolve(t.Context(), r.ref("1"), "amd64", Options{}); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("after it: %v", err)
	}
	if _, err := x.Push(t.Context(), "os:1", Options{}, nil); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("a reference without a registry: %v", err)
	}
}
