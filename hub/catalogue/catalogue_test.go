package catalogue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func hex64(c string) string { return strings.Repeat(c, 64) }

func artifactJSON(name, sum, more string) string {
	return fmt.Sprintf(`{"location":"https://mirror.example/%s","signature":"https://mirror.example/%s.sig","sha256":%q%s}`, name, name, hex64(sum), more)
}

// formatsJSON has what stream metadata has of metal (facts of boot images, section 2.5).
func formatsJSON() string {
	return `{"pxe":{"kernel":` + artifactJSON("live-kernel-x86_64", "1", "") + `,"initramfs":` + artifactJSON("initramfs.img", "2", "") + `,"rootfs":` + artifactJSON("rootfs.img.xz", "3", `,"uncompressed-sha256":"`+hex64("4")+`"`) +
		`},"iso":{"disk":` + artifactJSON("live.iso", "5", "") + `},"raw.xz":{"disk":` + artifactJSON("metal.raw.xz", "6", "") + `}}`
}

func streamJSON(archs map[string]string) []byte {
	var parts []string
	for arch, version := range archs {
		parts = append(parts, fmt.Sprintf(`%q:{"artifacts":{"metal":{"release":%q,"formats":%s},"aws":{"release":%q,"formats":{}}}}`, arch, version, formatsJSON(), version))
	}
	return []byte(`{"stream":"stable","metadata":{"last-modified":"2026-01-01T00:00:00Z"},"architectures":{` + strings.Join(parts, ",") + `}}`)
}

func releaseJSON(version string) []byte {
	return []byte(fmt.Sprintf(`{"release":%q,"stream":"stable","metadata":{},"architectures":{"x86_64":{"commit":"c","media":{"metal":{"artifacts":%s},"qemu":null}}}}`, version, formatsJSON()))
}

func signed(kind resource.ArtefactKind, name, sum, unpacked string) resource.BootImageFile {
	return resource.BootImageFile{
		Kind: kind, URL: "https://mirror.example/" + name, SHA256: hex64(sum), UncompressedSHA256: unpacked,
		Signature: &resource.BootImageSignature{Scheme: resource.SignatureOpenPGP, URL: "https://mirror.example/" + name + ".sig"},
	}
}

// Facts of boot images, section 2.5: the files of formats pxe and iso, signatures,
// uncompressed sums and both names of architectures; and nothing of what servers cannot boot.
func TestFromMetadata(t *testing.T) {
	files := []resource.BootImageFile{
		signed(resource.ArtefactKernel, "live-kernel-x86_64", "1", ""), signed(resource.ArtefactInitramfs, "initramfs.img", "2", ""),
		signed(resource.ArtefactSquashfs, "rootfs.img.xz", "3", hex64("4")), signed(resource.ArtefactISO, "live.iso", "5", ""),
	}
	o := ImportOptions{Catalogue: "fcos", URL: "https://builds.example/stable.json", MaxIgnition: "3.4.0", CommandLine: LiveCommandLine}
	want := func(kind resource.BootImageSourceKind, version string, archs ...string) *resource.BootImage {
		b := &resource.BootImage{Spec: resource.BootImageSpec{
			Catalogue: "fcos", Version: version, MaxIgnition: "3.4.0", Architectures: map[string]resource.BootImageArch{},
			Source: &resource.BootImageSource{Kind: kind, URL: o.URL},
		}}
		for _, a := range archs {
			b.Spec.Architectures[a] = resource.BootImageArch{Files: files, CommandLine: LiveCommandLine}
		}
		b.Metadata.Name = "fcos-" + strings.ReplaceAll(version, ".", "-")
		b.Default()
		return b
	}
	got, err := FromStream(streamJSON(map[string]string{"x86_64": "42.20260105.3.1", "aarch64": "42.20260105.3.1", "s390x": "42.20260105.3.1"}), o)
	if err != nil || cmp.Diff([]*resource.BootImage{want(resource.SourceStream, "42.20260105.3.1", "amd64", "arm64")}, got) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff([]*resource.BootImage{want(resource.SourceStream, "42.20260105.3.1", "amd64", "arm64")}, got))
	}
	got, err = FromStream(streamJSON(map[string]string{"x86_64": "42.2", "aarch64": "42.1"}), o)
	if err != nil || cmp.Diff([]*resource.BootImage{want(resource.SourceStream, "42.1", "arm64"), want(resource.SourceStream, "42.2", "amd64")}, got) != "" {
		t.Errorf("a stream that moves: %v\n%+v", err, got)
	}
	got, err = FromRelease(releaseJSON("42.3"), o)
	if err != nil || cmp.Diff([]*resource.BootImage{want(resource.SourceRelease, "42.3", "amd64")}, got) != "" {
		t.Errorf("release: %v\n%+v", err, got)
	}
	o.Formats = []Format{FormatISO}
	if got, err = FromRelease(releaseJSON("42.3"), o); err != nil || len(got[0].Spec.Architectures["amd64"].Files) != 1 || got[0].Spec.Architectures["amd64"].CommandLine != "" {
		t.Errorf("iso alone: %v\n%+v", err, got)
	}
}

func TestMetadataIsRefused(t *testing.T) {
	good := streamJSON(map[string]string{"x86_64": "42.1"})
	for _, row := range []struct {
		name string
		raw  []byte
		o    ImportOptions
		code protocol.Code
		says string
	}{
		{"no JSON", []byte("<html>"), ImportOptions{}, protocol.CodeInvalid, "invalid character"},
		{"too long", make([]byte, MaxMetadata+1), ImportOptions{}, protocol.CodeInvalid, "more than"},
		{"nothing for servers", []byte(`{"architectures":{"x86_64":{"artifacts":{"aws":{"release":"1"}}}}}`), ImportOptions{}, protocol.CodeNotFound, "nothing in it is for servers"},
		{"an architecture that is not there", good, ImportOptions{Architectures: []string{"arm64"}}, protocol.CodeNotFound, "nothing for arm64"},
		{"RPM's word", good, ImportOptions{Architectures: []string{"x86_64"}}, protocol.CodeInvalid, "none of amd64, arm64"},
		{"another format", good, ImportOptions{Formats: []Format{"qcow2"}}, protocol.CodeInvalid, "none of pxe and iso"},
		{"no catalogue", good, ImportOptions{Catalogue: "-"}, protocol.CodeInvalid, "spec.catalogue"},
		{"no specification", good, ImportOptions{MaxIgnition: "4"}, protocol.CodeInvalid, "spec.maxIgnition"},
		{"a kernel without its initramfs", []byte(strings.ReplaceAll(string(good), `"initramfs":`, `"other":`)), ImportOptions{Formats: []Format{FormatPXE}}, protocol.CodeNotFound, "nothing in it"},
		{"a sum that is none", []byte(strings.ReplaceAll(string(good), hex64("1"), "x")), ImportOptions{}, protocol.CodeInvalid, "sha256"},
		{"a file of the importer's machine", []byte(strings.ReplaceAll(string(good), "https://", "file://")), ImportOptions{}, protocol.CodeInvalid, "is not a URL"},
		{"no version", streamJSON(map[string]string{"x86_64": "latest"}), ImportOptions{}, protocol.CodeInvalid, "spec.version"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.o.Catalogue == "" {
				row.o.Catalogue = "fcos"
			}
			got, err := FromStream(row.raw, row.o)
			if protocol.CodeOf(err) != row.code || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// The index is by version, newest first, whatever order it is in; numbers are numbers.
func TestReleases(t *testing.T) {
	raw := []byte(`{"stream":"stable","releases":[{"version":"42.9.1","metadata":"https://m.example/9.json"},{"version":"42.10.1","metadata":"https://m.example/10.json"},{"version":"latest","metadata":"https://m.example/l.json"},{"version":"42.11.1"}]}`)
	got, err := Releases(raw)
	if err != nil || !slices.Equal(got, []Release{{"42.10.1", "https://m.example/10.json"}, {"42.9.1", "https://m.example/9.json"}}) {
		t.Errorf("%v, %v", got, err)
	}
	if !IsIndex(raw) || IsIndex(releaseJSON("1")) || IsIndex([]byte("{")) {
		t.Error("what is an index?")
	}
	if _, err := Releases([]byte(`{"releases":[]}`)); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Error(err)
	}
}

func TestFromOCIIndex(t *testing.T) {
	manifest := func(arch, sum string) string {
		return fmt.Sprintf(`{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:%s","size":1,"platform":{"architecture":%q,"os":"linux"}}`, hex64(sum), arch)
	}
	index := `{"schemaVersion":2,"manifests":[` + manifest("amd64", "1") + "," + manifest("arm64", "2") + "," + manifest("unknown", "3") + `]}`
	o := ImportOptions{Catalogue: "os", Version: "1.0", Repository: "registry.example/os"}
	got, err := FromOCIIndex([]byte(index), o)
	if err != nil || len(got) != 1 || len(got[0].Spec.Architectures) != 2 || got[0].Spec.Architectures["arm64"].Image != "registry.example/os@sha256:"+hex64("2") {
		t.Fatalf("%+v, %v", got, err)
	}
	signed := o
	signed.Signature = &resource.ImageSignature{Scheme: resource.SignatureCosign, Key: "release"}
	if got, err := FromOCIIndex([]byte(index), signed); err != nil || *got[0].Spec.Architectures["amd64"].Signature != *signed.Signature || *got[0].Spec.Architectures["arm64"].Signature != *signed.Signature {
		t.Errorf("a signature: %+v, %v", got, err)
	}
	one := o
	one.Architectures = []string{"arm64"}
	bare := []byte(`{"schemaVersion":2,"layers":[]}`)
	if got, err := FromOCIIndex(bare, one); err != nil || !strings.HasPrefix(got[0].Spec.Architectures["arm64"].Image, "registry.example/os@sha256:") || !strings.HasSuffix(got[0].Spec.Architectures["arm64"].Image, got[0].Spec.Source.Digest) {
		t.Errorf("a single manifest: %+v, %v", got, err)
	}
	for name, row := range map[string]struct {
		raw  string
		o    ImportOptions
		says string
	}{
		"a single manifest without --arch": {string(bare), o, "name the architecture"},
		"two for one":                      {`{"schemaVersion":2,"manifests":[` + manifest("amd64", "1") + "," + manifest("amd64", "2") + `]}`, o, "two manifests for amd64"},
		"no digest":                        {`{"schemaVersion":2,"manifests":[{"digest":"latest","platform":{"architecture":"amd64"}}]}`, o, "has no @sha256"},
		"of version 1":                     {`{"schemaVersion":1}`, o, "schemaVersion"},
		"nothing for servers":              {`{"schemaVersion":2,"manifests":[` + manifest("s390x", "1") + `]}`, o, "nothing for"},
		"without the version":              {index, ImportOptions{Catalogue: "os", Repository: "r.example/os"}, "version are needed"},
	} {
		if got, err := FromOCIIndex([]byte(row.raw), row.o); err == nil || !strings.Contains(err.Error()+protocol.HintOf(err), row.says) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestName(t *testing.T) {
	for version, want := range map[string]string{
		"42.20260105.3.1": "fcos-42-20260105-3-1", "9.6~rc1+X_y": "fcos-9-6-rc1-x-y", "1.0.": "fcos-1-0",
	} {
		if got := name("fcos", version); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
	long := name(strings.Repeat("a", 50), "1."+strings.Repeat("0.", 30)+"1")
	if !protocol.ValidName(long) || long == name(strings.Repeat("a", 50), "1."+strings.Repeat("0.", 30)+"2") {
		t.Errorf("%q", long)
	}
}

// An image is made of verified files only, and is another one when anything of it is.
func TestImage(t *testing.T) {
	got, err := FromStream(streamJSON(map[string]string{"x86_64": "42.1"}), ImportOptions{Catalogue: "fcos", CommandLine: "quiet"})
	if err != nil {
		t.Fatal(err)
	}
	b := got[0]
	b.Status.Verified = map[string]resource.BootImageVerified{}
	for i, f := range b.Spec.Architectures["amd64"].Files {
		if _, err := Image(b, "amd64"); protocol.CodeOf(err) != protocol.CodeUnavailable || protocol.HintOf(err) == "" {
			t.Errorf("with %d files: %v", i, err)
		}
		b.Status.Verified[FileDigest(f)] = resource.BootImageVerified{Digest: "sha256:" + hex64("a"), Size: int64(i)}
	}
	img, err := Image(b, "amd64")
	if err != nil || img.Reference != "bootimage/fcos-42-1" || img.Source != resource.ImageFromHub || len(img.Artefacts) != 4 || img.CommandLine != "quiet" || !img.Is("bootimage/fcos-42-1") {
		t.Errorf("%+v, %v", img, err)
	}
	if _, err := Image(b, "arm64"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Error(err)
	}
	b.Spec.Architectures["amd64"] = resource.BootImageArch{Files: b.Spec.Architectures["amd64"].Files, CommandLine: "debug"}
	if other, err := Image(b, "amd64"); err != nil || other.Digest == img.Digest {
		t.Errorf("%s, %v", other.Digest, err)
	}
}

// FuzzMetadata: whatever is read, what comes out is what the hub takes, or an error.
func FuzzMetadata(f *testing.F) {
	f.Add(streamJSON(map[string]string{"x86_64": "42.1", "aarch64": "42.2"}))
	f.Add(releaseJSON("42.1"))
	f.Add([]byte(`{"releases":[{"version":"42.1","metadata":"https://m.example/1.json"}]}`))
	f.Add([]byte(`{"schemaVersion":2,"manifests":[{"digest":"sha256:` + hex64("1") + `","platform":{"architecture":"amd64"}}]}`))
	f.Add([]byte(`{"schemaVersion":2,"layers":[{}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		o := ImportOptions{Catalogue: "c", Version: "1.0", Repository: "r.example/os"}
		for _, read := range []func([]byte, ImportOptions) ([]*resource.BootImage, error){FromStream, FromRelease, FromOCIIndex} {
			got, err := read(raw, o)
			if err != nil && protocol.CodeOf(err) == protocol.CodeInternal {
				t.Errorf("%v", err)
			}
			for _, b := range got {
				if wrong := b.Validate(); err == nil && len(wrong) > 0 {
					t.Errorf("%v", wrong)
				}
				if raw, err := json.Marshal(b); err != nil || len(raw) == 0 {
					t.Error(err)
				}
			}
		}
		if got, err := Releases(raw); err == nil && len(got) == 0 {
			t.Error("an empty index without an error")
		}
		IsIndex(raw)
	})
}
