package image

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/types"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// program makes a PE image for EFI with sections that have 512 bytes each.
func program(machine uint16, sections ...string) []byte {
	const lfanew, optional = 0x80, 112
	le := binary.LittleEndian
	out := make([]byte, 1024+512*len(sections))
	copy(out, "MZ")
	le.PutUint32(out[dosOffsetOfPE:], lfanew)
	copy(out[lfanew:], "PE\x00\x00")
	coff := out[lfanew+4:]
	le.PutUint16(coff, machine)
	le.PutUint16(coff[2:], uint16(len(sections)))
	le.PutUint16(coff[16:], optional)
	le.PutUint16(coff[coffSize:], pe32Plus)
	le.PutUint16(coff[coffSize+offsetOfSub:], subsystemEFI)
	for i, name := range sections {
		s := coff[coffSize+optional+i*sectionSize:]
		copy(s, name)
		le.PutUint32(s[16:], 512)
		le.PutUint32(s[20:], uint32(1024+512*i))
	}
	return out
}

func unified(machine uint16) []byte {
	return program(machine, ".text", ".osrel", ".cmdline", ".linux", ".initrd")
}

func changed(b []byte, at int, to ...byte) []byte {
	copy(b[at:], to)
	return b
}

func bz(version, xload uint16) []byte {
	out := make([]byte, 1024)
	le := binary.LittleEndian
	le.PutUint16(out[bzFlag:], 0xaa55)
	copy(out[bzMagic:], "HdrS")
	le.PutUint16(out[bzVersion:], version)
	le.PutUint16(out[bzXLoad:], xload)
	return out
}

// TestInspectHeads: what each kind of artefact may begin with, by architecture.
func TestInspectHeads(t *testing.T) {
	const uki, kernel, initramfs, squashfs = resource.ArtefactUKI, resource.ArtefactKernel, resource.ArtefactInitramfs, resource.ArtefactSquashfs
	arm := changed(make([]byte, 64), armMagic, 'A', 'R', 'M', 0x64)
	for _, row := range []struct {
		name string
		kind resource.ArtefactKind
		arch string
		body []byte
		want string // in the error; empty is that it is good
	}{
		{"UKI", uki, "amd64", unified(machineAMD64), ""},
		{"UKI for arm64", uki, "arm64", unified(machineARM64), ""},
		{"UKI without what may lack (specification 5)", uki, "amd64", program(machineAMD64, ".linux"), ""},
		{"UKI of another architecture", uki, "amd64", unified(machineARM64), "is for arm64, and the server is amd64"},
		{"UKI of a machine without a word", uki, "amd64", unified(0x1234), "machine type 0x1234"},
		{"boot loader", uki, "amd64", program(machineAMD64, ".text", ".data"), `is an EFI program and no UKI: it has no section .linux, only ".text" ".data"`},
		{"no PE", uki, "amd64", []byte(strings.Repeat("kernel", 100)), "no PE image"},
		{"DOS program", uki, "amd64", changed(make([]byte, 600), 0, 'M', 'Z'), "begins as a DOS program"},
		{"header elsewhere", uki, "amd64", changed(unified(machineAMD64), dosOffsetOfPE, 0xff, 0xff, 0xff, 0xff), "beyond the first"},
		{"too many sections", uki, "amd64", changed(unified(machineAMD64), 0x80+4+2, 0xff, 0xff), "65535 sections"},
		{"cut off in its table", uki, "amd64", unified(machineAMD64)[:300], "is cut off"},
		{"cut off", uki, "amd64", unified(machineAMD64)[:3000], `is cut off: section ".linux" ends at byte 3072 of 3000`},
		{"driver", uki, "amd64", changed(unified(machineAMD64), 0x80+4+coffSize+offsetOfSub, 11), "no EFI application"},
		{"32 bits", uki, "amd64", changed(unified(machineAMD64), 0x80+4+coffSize, 0x0b, 0x01), "no EFI application"},
		{"bzImage", kernel, "amd64", bz(0x020f, bz64), ""},
		{"bzImage before xloadflags", kernel, "amd64", bz(0x020b, 0), ""},
		{"bzImage of 32 bits", kernel, "amd64", bz(0x020f, 0), "is a bzImage for 386"},
		{"bzImage for arm64", kernel, "arm64", bz(0x020f, bz64), "is a bzImage for amd64, and the server is arm64"},
		{"arm64 Image", kernel, "arm64", arm, ""},
		{"arm64 Image for amd64", kernel, "amd64", arm, "is a kernel for arm64"},
		{"EFI_ZBOOT", kernel, "arm64", program(machineARM64, ".text"), ""},
		{"EFI_ZBOOT of another", kernel, "amd64", program(machineARM64, ".text"), "is for arm64"},
		{"vmlinux", kernel, "amd64", []byte("\x7fELF..."), "an ELF file, as vmlinux is"},
		{"Image.gz", kernel, "arm64", []byte("\x1f\x8b\x08"), "gzip compressed"},
		{"nothing", kernel, "amd64", nil, "nothing at all"},
		{"text", kernel, "amd64", []byte("kernel bytes"), `"kernel b"`},
		{"cpio", initramfs, "amd64", []byte("070701000"), ""},
		{"cpio with checksums", initramfs, "amd64", []byte("070702000"), ""},
		{"gzip", initramfs, "amd64", []byte("\x1f\x8b\x08"), ""},
		{"zstd", initramfs, "amd64", []byte("\x28\xb5\x2f\xfd"), ""},
		{"xz", initramfs, "amd64", []byte("\xfd7zXZ\x00"), ""},
		{"lz4", initramfs, "amd64", []byte("\x02\x21\x4c\x18"), ""},
		{"old cpio", initramfs, "amd64", []byte("070707"), "no initramfs"},
		{"a squashfs as initramfs", initramfs, "amd64", []byte("hsqs"), "a squashfs"},
		{"squashfs", squashfs, "amd64", []byte("hsqs\x00"), ""},
		{"an answer of a proxy", squashfs, "amd64", []byte("<html>"), "HTML"},
	} {
		a := resource.Artefact{Kind: row.kind, Size: int64(len(row.body))}
		err := inspect(a, row.body, row.arch)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}

// TestInspect: of a large layer only the beginning is asked for, and read where the
// registry knows no ranges; what is wrong is said with what, where and what to do.
func TestInspect(t *testing.T) {
	r := newRegistry(t)
	large := append(unified(machineAMD64), make([]byte, 1<<20)...)
	push := func(tag string, arch string, uki []byte) resource.Image {
		r.misbehave(nil)
		r.image(tag, r.blob(typeUKI, string(uki)))
		img, err := Resolve(t.Context(), r.ref(tag), arch, patient())
		if err != nil {
			t.Fatal(err)
		}
		return img
	}
	good := push("good", "amd64", large)
	var asked []string
	record := func(_ http.ResponseWriter, req *http.Request) bool {
		asked = append(asked, strings.TrimPrefix(req.URL.Path, "/v2/os/")+" "+req.Header.Get("Range"))
		return false
	}
	r.misbehave(record)
	if err := Inspect(t.Context(), good, patient()); err != nil {
		t.Error(err)
	}
	if want := []string{"/v2/ ", "blobs/" + good.Artefacts[0].Digest + " bytes=0-32767"}; fmt.Sprint(asked) != fmt.Sprint(want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	r.misbehave(func(w http.ResponseWriter, req *http.Request) bool {
		if !strings.Contains(req.URL.Path, "/blobs/") {
			return false
		}
		_, _ = w.Write(large) // as if no range were asked
		return true
	})
	if err := Inspect(t.Context(), good, patient()); err != nil {
		t.Errorf("without ranges: %v", err)
	}

	bad := push("bad", "arm64", large) // a flat manifest says no architecture
	err := Inspect(t.Context(), bad, patient())
	for _, s := range []string{"uki", r.ref("bad"), bad.Artefacts[0].Digest, "is for amd64, and the server is arm64", "build the image for arm64"} {
		if !strings.Contains(fmt.Sprint(err)+protocol.HintOf(err), s) {
			t.Errorf("%v (%s) does not say %q", err, protocol.HintOf(err), s)
		}
	}
	if protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("code %s", protocol.CodeOf(err))
	}
	for _, row := range []struct {
		name string
		wrap func(http.ResponseWriter, *http.Request) bool
		code protocol.Code
	}{
		{"gone", func(w http.ResponseWriter, req *http.Request) bool {
			if strings.Contains(req.URL.Path, "/blobs/") {
				http.NotFound(w, req)
			}
			return strings.Contains(req.URL.Path, "/blobs/")
		}, protocol.CodeNotFound},
		{"short", func(w http.ResponseWriter, req *http.Request) bool {
			if strings.Contains(req.URL.Path, "/blobs/") {
				_, _ = w.Write(large[:2000])
			}
			return strings.Contains(req.URL.Path, "/blobs/")
		}, protocol.CodeInvalid},
		{"login", wantsLogin, protocol.CodeDenied},
	} {
		r.misbehave(row.wrap)
		if err := Inspect(t.Context(), good, patient()); protocol.CodeOf(err) != row.code || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v (%s)", row.name, err, protocol.HintOf(err))
		}
	}
	opts := patient()
	opts.Accounts = accountOf(r.host, byPassword())
	if err := Inspect(t.Context(), good, opts); err != nil {
		t.Errorf("with the account: %v", err)
	}
}

// FuzzInspect: no file makes it panic, and what is said to be a UKI has a kernel within
// its size, for the architecture.
func FuzzInspect(f *testing.F) {
	f.Add(unified(machineAMD64), "amd64", uint8(0))
	f.Add(program(machineARM64), "arm64", uint8(1))
	f.Add(bz(0x020f, bz64), "amd64", uint8(1))
	f.Add(changed(unified(machineAMD64), dosOffsetOfPE, 0xff, 0xff), "amd64", uint8(0))
	f.Add([]byte("MZ"), "", uint8(0))
	f.Fuzz(func(t *testing.T, head []byte, arch string, kind uint8) {
		kinds := resource.ArtefactKinds()
		a := resource.Artefact{Kind: kinds[int(kind)%len(kinds)], Size: int64(len(head))}
		if err := inspect(a, head, arch); err != nil || a.Kind != resource.ArtefactUKI {
			return
		}
		p, err := parsePE(head)
		if err != nil || !p.has(".linux") || architectureOf(p.machine) != arch {
			t.Fatalf("%+v, %v", p, err)
		}
		for _, s := range p.sections {
			if s.end > a.Size {
				t.Fatalf("section %q ends at %d of %d", s.name, s.end, a.Size)
			}
		}
	})
}

// BenchmarkResolveNested resolves an index in an index with a manifest for each of two
// architectures, from a registry on loopback.
func BenchmarkResolveNested(b *testing.B) {
	r := newRegistry(b)
	amd := r.image("", r.blob(typeUKI, "amd64 uki"))
	arm := r.image("", r.blob(typeUKI, "arm64 uki"))
	inner := r.push("", index(types.OCIImageIndex, on(arm, "linux", "arm64"), on(amd, "linux", "amd64")), types.OCIImageIndex)
	r.push("x", index(types.OCIImageIndex, inner), types.OCIImageIndex)
	for b.Loop() {
		if img, err := Resolve(b.Context(), r.ref("x"), "amd64", Options{}); err != nil || img.Digest != amd.Digest.String() {
			b.Fatal(img, err)
		}
	}
}
