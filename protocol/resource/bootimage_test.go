package resource

import (
	"slices"
	"strings"
	"testing"

	"rackboot/protocol"
)

// What a claim may name as an image.
func TestBootImageName(t *testing.T) {
	for reference, want := range map[string]string{
		"bootimage/os-1": "os-1", "bootimage/": "", "bootimage/os:1": "", "bootimage/os@sha256:1": "", "bootimage/a/b": "",
		"registry.example/os:1": "", "": "",
	} {
		if got := BootImageName(reference); got != want {
			t.Errorf("%q: %q, want %q", reference, got, want)
		}
	}
	for _, row := range []struct {
		image Image
		says  string
		want  bool
	}{
		{Image{Reference: "r.example/os:1"}, "r.example/os:1", true},
		{Image{Reference: "r.example/os:1"}, "r.example/os:2", false},
		{Image{Reference: "r.example/os@sha256:1", BootImage: "os-1"}, "bootimage/os-1", true},
		{Image{Reference: "r.example/os@sha256:1", BootImage: "os-1"}, "bootimage/os-2", false},
		{Image{Reference: "r.example/os@sha256:1"}, "bootimage/os-1", false},
		{Image{Reference: "bootimage/os-1"}, "bootimage/os-1", true}, // of a system that somebody keeps
		{Image{Reference: "r.example/os:1"}, "r.example/os", false},
	} {
		if got := row.image.Is(row.says); got != row.want {
			t.Errorf("%+v is %s: %t", row.image, row.says, got)
		}
	}
}

// Whatever may name an image may name an entry, which is a reference then.
func TestBootImageReferences(t *testing.T) {
	claim := &Claim{Spec: ClaimSpec{Image: "bootimage/os-1"}}
	m := &Maintenance{Spec: MaintenanceSpec{Boot: MaintenanceBoot{Image: "bootimage/os-1"}}}
	rack := &Rack{Spec: RackSpec{Discovery: &RackDiscovery{Image: "bootimage/os-1"}}}
	for path, obj := range map[string]Referrer{"spec.image": claim, "spec.boot.image": m, "spec.discovery.image": rack} {
		if !slices.Contains(obj.References(), Reference{path, KindBootImage, "os-1"}) {
			t.Errorf("%s: %v", path, obj.References())
		}
	}
	var f fields
	checkBootSource(&f, "spec", "bootimage/Os_1", nil, nil, FirstBootPxe)
	if len(f.FieldErrors) != 1 || f.FieldErrors[0].Path != "spec.image" {
		t.Errorf("%v", f.FieldErrors)
	}
}

func TestBootImageValidate(t *testing.T) {
	sum := strings.Repeat("a", 64)
	kernel := BootImageFile{Kind: ArtefactKernel, URL: "https://m.example/k", SHA256: sum}
	initramfs := BootImageFile{Kind: ArtefactInitramfs, URL: "https://m.example/i", SHA256: sum}
	files := func(f ...BootImageFile) BootImageArch { return BootImageArch{Files: f} }
	with := func(f BootImageFile, change func(*BootImageFile)) BootImageFile { change(&f); return f }
	for _, row := range []struct {
		name string
		arch string
		spec BootImageArch
		path string // of the error; empty for none
	}{
		{"files", "amd64", files(kernel, initramfs), ""},
		{"an image", "arm64", BootImageArch{Image: "r.example/os@sha256:" + sum}, ""},
		{"an architecture of RPM", "x86_64", files(kernel, initramfs), "spec.architectures[x86_64]"},
		{"a signed image", "amd64", BootImageArch{Image: "r.example/os@sha256:" + sum, Signature: &ImageSignature{Scheme: SignatureCosign, Key: "release"}}, ""},
		{"an image by another scheme", "amd64", BootImageArch{Image: "r.example/os@sha256:" + sum, Signature: &ImageSignature{Scheme: SignatureOpenPGP}}, "spec.architectures[amd64].signature.scheme"},
		{"a key that is no name", "amd64", BootImageArch{Image: "r.example/os@sha256:" + sum, Signature: &ImageSignature{Scheme: SignatureCosign, Key: "cosign.pub"}}, "spec.architectures[amd64].signature.key"},
		{"one signature of files", "amd64", BootImageArch{Files: []BootImageFile{kernel, initramfs}, Signature: &ImageSignature{Scheme: SignatureCosign}}, "spec.architectures[amd64].signature"},
		{"a tag", "amd64", BootImageArch{Image: "r.example/os:1"}, "spec.architectures[amd64].image"},
		{"both", "amd64", BootImageArch{Image: "r.example/os@sha256:" + sum, Files: []BootImageFile{kernel, initramfs}}, "spec.architectures[amd64]"},
		{"neither", "amd64", BootImageArch{}, "spec.architectures[amd64]"},
		{"a kernel alone", "amd64", files(kernel), "spec.architectures[amd64].files"},
		{"twice", "amd64", files(kernel, initramfs, kernel), "spec.architectures[amd64].files[2].kind"},
		{"capital digits", "amd64", files(with(kernel, func(f *BootImageFile) { f.SHA256 = strings.ToUpper(sum) }), initramfs), "spec.architectures[amd64].files[0].sha256"},
		{"a password", "amd64", files(with(kernel, func(f *BootImageFile) { f.URL = "https://u:p@m.example/k" }), initramfs), "spec.architectures[amd64].files[0].url"},
		{"another scheme of signatures", "amd64", files(with(kernel, func(f *BootImageFile) { f.Signature = &BootImageSignature{Scheme: "md5", URL: f.URL} }), initramfs), "spec.architectures[amd64].files[0].signature.scheme"},
	} {
		b := &BootImage{Spec: BootImageSpec{Catalogue: "os", Version: "1.0", Architectures: map[string]BootImageArch{row.arch: row.spec}}}
		b.Metadata.Name = "os-1"
		b.Default()
		wrong := b.Validate()
		if row.path == "" && len(wrong) > 0 || row.path != "" && !slices.ContainsFunc(wrong, func(e protocol.FieldError) bool { return e.Path == row.path }) {
			t.Errorf("%s: %v, want %q", row.name, wrong, row.path)
		}
	}
}

// What is proved is kept by digest: one image has one signature, whatever boots it.
func TestBootImageSignedAlike(t *testing.T) {
	image := "r.example/os@sha256:" + strings.Repeat("a", 64)
	signed := BootImageArch{Image: image, Signature: &ImageSignature{Scheme: SignatureCosign}}
	for _, row := range []struct {
		other BootImageArch
		wrong int
	}{
		{signed, 0},
		{BootImageArch{Image: image}, 1},
		{BootImageArch{Image: image, Signature: &ImageSignature{Scheme: SignatureCosign, Key: "release"}}, 1},
		{BootImageArch{Image: "r.example/os@sha256:" + strings.Repeat("b", 64)}, 0},
	} {
		b := &BootImage{Spec: BootImageSpec{Catalogue: "os", Version: "1.0", Architectures: map[string]BootImageArch{"amd64": signed, "arm64": row.other}}}
		b.Metadata.Name = "os-1"
		b.Default()
		if wrong := b.Validate(); len(wrong) != row.wrong {
			t.Errorf("%+v: %v", row.other, wrong)
		}
	}
}
