package image

import (
	"fmt"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestMediaTypes has one row per media type of boot images that are in use:
// ironcore-image, Garden Linux, ironcore-image v1alpha1, and its next generation (facts
// on boot policy, section 2.1).
func TestMediaTypes(t *testing.T) {
	for mediaType, want := range map[string]resource.ArtefactKind{
		"application/vnd.ironcore.image.uki":                          resource.ArtefactUKI,
		"application/vnd.ironcore.image.kernel":                       resource.ArtefactKernel,
		"application/vnd.ironcore.image.initramfs":                    resource.ArtefactInitramfs,
		"application/vnd.ironcore.image.squashfs":                     resource.ArtefactSquashfs,
		"application/io.gardenlinux.kernel":                           resource.ArtefactKernel,
		"application/io.gardenlinux.initrd":                           resource.ArtefactInitramfs,
		"application/io.gardenlinux.squashfs":                         resource.ArtefactSquashfs,
		"application/vnd.ironcore.image.vmlinuz.v1alpha1.vmlinuz":     resource.ArtefactKernel,
		"application/vnd.ironcore.image.initramfs.v1alpha1.initramfs": resource.ArtefactInitramfs,
		"application/vnd.ironcore.image.squashfs.v1alpha1.squashfs":   resource.ArtefactSquashfs,
		"application/vnd.ironcore.image.rootfs":                       "",
		"application/vnd.ironcore.image.iso":                          resource.ArtefactISO,
		"application/vnd.rackboot.image.iso":                          resource.ArtefactISO,
		"application/x-iso9660-image":                                 resource.ArtefactISO,
		"application/vnd.efi-iso":                                     resource.ArtefactISO,
		"application/x-cd-image":                                      resource.ArtefactISO,
		"application/vnd.ironcore.image.rootfs.v1alpha1.rootfs":       "",
		"application/vnd.ironcore.image.disk.img":                     "",
		"application/vnd.ironcore.kernel.v1":                          resource.ArtefactKernel,
		"application/vnd.ironcore.initrd.cpio.v1":                     resource.ArtefactInitramfs,
		"application/vnd.ironcore.initrd.cpio.v1+gzip":                resource.ArtefactInitramfs,
		"application/vnd.ironcore.initrd.cpio.v1+zstd":                resource.ArtefactInitramfs,
		"application/vnd.ironcore.initrd.cpio.v2":                     "",
		"application/vnd.ironcore.efi-executable.v1":                  resource.ArtefactUKI,
		"application/vnd.ironcore.disk.qcow2.v1":                      "",
		"application/vnd.oci.image.layer.v1.tar+gzip":                 "",
		"": "",
	} {
		if got := kindOf(mediaType); got != want {
			t.Errorf("%s is %q, want %q", mediaType, got, want)
		}
	}
}

// TestResolve pushes layouts to a registry and resolves them. want is the tag of
// the manifest that must be found.
func TestResolve(t *testing.T) {
	for _, row := range []struct {
		name string
		push func(r *testRegistry, amd, arm v1.Descriptor) // pushes "x"
		want string                                        // "amd" or "arm"
		code protocol.Code
		text string // in the error
	}{
		{"flat manifest, architecture unchecked", func(r *testRegistry, _, _ v1.Descriptor) { r.image("x", r.blob(typeUKI, "amd64 uki")) }, "amd", "", ""},
		{"OCI index", func(r *testRegistry, amd, arm v1.Descriptor) {
			r.push("x", index(types.OCIImageIndex, on(arm, "linux", "arm64"), on(amd, "linux", "amd64")), types.OCIImageIndex)
		}, "amd", "", ""},
		{"Docker manifest list", func(r *testRegistry, amd, arm v1.Descriptor) {
			r.push("x", index(types.DockerManifestList, on(arm, "linux", "arm64"), on(amd, "linux", "amd64")), types.DockerManifestList)
		}, "amd", "", ""},
		{"another operating system", func(r *testRegistry, amd, arm v1.Descriptor) {
			r.push("x", index(types.OCIImageIndex, on(arm, "windows", "amd64"), on(amd, "linux", "amd64")), types.OCIImageIndex)
		}, "amd", "", ""},
		{"nested index without platform", func(r *testRegistry, amd, arm v1.Descriptor) {
			empty := r.push("", index(types.OCIImageIndex, on(arm, "linux", "arm64")), types.OCIImageIndex)
			inner := r.push("", index(types.OCIImageIndex, on(amd, "linux", "amd64")), types.OCIImageIndex)
			r.push("x", index(types.OCIImageIndex, empty, inner), types.OCIImageIndex)
		}, "amd", "", ""},
		{"nested index with platform", func(r *testRegistry, amd, _ v1.Descriptor) {
			inner := r.push("", index(types.OCIImageIndex, on(amd, "linux", "amd64")), types.OCIImageIndex)
			r.push("x", index(types.OCIImageIndex, on(inner, "linux", "amd64")), types.OCIImageIndex)
		}, "amd", "", ""},
		{"Garden Linux: cname before platform", func(r *testRegistry, amd, arm v1.Descriptor) {
			arm, amd = on(arm, "linux", "amd64"), on(amd, "linux", "amd64")
			arm.Annotations = map[string]string{"cname": "kvm", "architecture": "amd64"}
			amd.Annotations = map[string]string{"cname": "metal_pxe-amd64", "architecture": "amd64"}
			r.push("x", index(types.OCIImageIndex, arm, amd), types.OCIImageIndex)
		}, "amd", "", ""},
		{"attestation next to the image (buildkit)", func(r *testRegistry, amd, arm v1.Descriptor) {
			r.push("x", index(types.OCIImageIndex, on(arm, "unknown", "unknown"), on(amd, "linux", "amd64")), types.OCIImageIndex)
		}, "amd", "", ""},
		{"Garden Linux: cname without platform", func(r *testRegistry, amd, arm v1.Descriptor) {
			arm.Annotations = map[string]string{"cname": "kvm", "architecture": "amd64"}
			amd.Annotations = map[string]string{"cname": "metal_pxe", "architecture": "amd64"}
			r.push("x", index(types.OCIImageIndex, arm, amd), types.OCIImageIndex)
		}, "amd", "", ""},
		{"a cname that its platform denies", func(r *testRegistry, amd, arm v1.Descriptor) {
			arm, amd = on(arm, "linux", "arm64"), on(amd, "linux", "amd64")
			arm.Annotations = map[string]string{"cname": "metal_pxe", "architecture": "amd64"}
			r.push("x", index(types.OCIImageIndex, arm, amd), types.OCIImageIndex)
		}, "amd", "", ""},
		{"variants: the one that every machine is", func(r *testRegistry, amd, arm v1.Descriptor) {
			r.push("x", index(types.OCIImageIndex, variant(arm, "amd64", "v3"), variant(amd, "amd64", "v1")), types.OCIImageIndex)
		}, "amd", "", ""},
		{"variants: only one that needs more", func(r *testRegistry, _, arm v1.Descriptor) {
			r.push("x", index(types.OCIImageIndex, variant(arm, "amd64", "v3")), types.OCIImageIndex)
		}, "", protocol.CodeNotFound, "linux/amd64/v3"},
		{"artifactType in the index: a disk image first", func(r *testRegistry, amd, arm v1.Descriptor) {
			arm, amd = on(arm, "linux", "amd64"), on(amd, "linux", "amd64")
			arm.ArtifactType, amd.ArtifactType = artifactDisk, artifactEFI
			r.push("x", index(types.OCIImageIndex, arm, amd), types.OCIImageIndex)
		}, "amd", "", ""},
		{"artifactType of the manifest: a disk image", func(r *testRegistry, _, _ v1.Descriptor) {
			m := manifest(r.blob("application/vnd.oci.empty.v1+json", "{}"), r.blob(typeUKI, "uki"))
			m.ArtifactType = artifactDisk
			r.push("x", m, types.OCIManifestSchema1)
		}, "", protocol.CodeInvalid, "written to a disk"},
		{"type of the configuration: a disk image", func(r *testRegistry, _, _ v1.Descriptor) {
			r.push("x", manifest(r.blob(typeConfigDisk, "{}"), r.blob("application/vnd.ironcore.disk.qcow2.v1", "QFI")), types.OCIManifestSchema1)
		}, "", protocol.CodeInvalid, "written to a disk"},
		{"nothing for the architecture", func(r *testRegistry, _, arm v1.Descriptor) {
			r.push("x", index(types.OCIImageIndex, on(arm, "linux", "arm64")), types.OCIImageIndex)
		}, "", protocol.CodeNotFound, "linux/arm64"},
		{"empty index", func(r *testRegistry, _, _ v1.Descriptor) {
			r.push("x", index(types.OCIImageIndex), types.OCIImageIndex)
		}, "", protocol.CodeNotFound, "linux/amd64"},
		{"indexes nested too deep", func(r *testRegistry, amd, _ v1.Descriptor) {
			d := on(amd, "linux", "amd64")
			for range maxDepth {
				d = r.push("", index(types.OCIImageIndex, d), types.OCIImageIndex)
			}
			r.push("x", index(types.OCIImageIndex, d), types.OCIImageIndex)
		}, "", protocol.CodeInvalid, "nested"},
		{"two layers of a kind", func(r *testRegistry, _, _ v1.Descriptor) {
			r.image("x", r.blob(typeKernel, "1"), r.blob("application/io.gardenlinux.kernel", "2"))
		}, "", protocol.CodeInvalid, "more than one kernel layer: " + digestOf([]byte("1"))},
		{"two initrds", func(r *testRegistry, _, _ v1.Descriptor) {
			r.image("x", r.blob(typeInitrd, "1"), r.blob(typeInitrd+"+gzip", "2"))
		}, "", protocol.CodeInvalid, "and " + digestOf([]byte("2"))},
		{"a container image", func(r *testRegistry, _, _ v1.Descriptor) {
			r.image("x", r.blob("application/vnd.oci.image.layer.v1.tar+gzip", "tar"))
		}, "", protocol.CodeInvalid, "no boot artefact"},
		{"no such tag", func(*testRegistry, v1.Descriptor, v1.Descriptor) {}, "", protocol.CodeNotFound, "does not exist"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRegistry(t)
			found := map[string]v1.Descriptor{
				"amd": r.image("amd", r.blob(typeUKI, "amd64 uki")),
				"arm": r.image("arm", r.blob(typeUKI, "arm64 uki")),
			}
			row.push(r, found["amd"], found["arm"])
			img, err := Resolve(t.Context(), r.ref("x"), "amd64", Options{})
			if protocol.CodeOf(err) != row.code {
				t.Fatalf("got %v, want %q", err, row.code)
			}
			if err != nil {
				if !strings.Contains(err.Error(), row.text) || protocol.HintOf(err) == "" && row.text != "nested" {
					t.Errorf("error %q, hint %q", err, protocol.HintOf(err))
				}
				return
			}
			want := resource.Image{
				Reference: r.ref("x"), Digest: found[row.want].Digest.String(), Architecture: "amd64",
				Artefacts: []resource.Artefact{{Kind: resource.ArtefactUKI, Digest: digestOf([]byte(row.want + "64 uki")), Size: 9, MediaType: typeUKI}},
			}
			if fmt.Sprint(img) != fmt.Sprint(want) {
				t.Errorf("got %+v, want %+v", img, want)
			}
		})
	}
}

func TestReferences(t *testing.T) {
	r := newRegistry(t)
	d := r.image("v1", r.blob(typeUKI, "uki"))
	for ref, want := range map[string]protocol.Code{
		r.ref("v1"):                           "",
		r.digestRef(d):                        "",
		r.ref("v1") + "@" + d.Digest.String(): "",
		r.host + "/os":                        protocol.CodeInvalid,
		"os:v1":                               protocol.CodeInvalid,
		"":                                    protocol.CodeInvalid,
		r.host + "/os@sha256:12":              protocol.CodeInvalid,
		r.host + "/OS:v1":                     protocol.CodeInvalid,
		r.host + "/os@" + digestOf([]byte("other")): protocol.CodeNotFound,
	} {
		img, err := Resolve(t.Context(), ref, "amd64", Options{})
		if protocol.CodeOf(err) != want {
			t.Errorf("%q: %v, want %q", ref, err, want)
		}
		if err == nil && (img.Digest != d.Digest.String() || img.Reference != ref) {
			t.Errorf("%q: %+v", ref, img)
		}
	}
}

// FuzzParseDocument: no manifest makes it panic, and what it finds is sound.
func FuzzParseDocument(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":2,"config":{},"layers":[{"mediaType":"application/vnd.ironcore.image.uki","size":3,"digest":"sha256:`+strings.Repeat("a", 64)+`"}]}`), "", "amd64")
	f.Add([]byte(`{"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","size":3,"digest":"sha256:`+strings.Repeat("a", 64)+`","platform":{"os":"linux","architecture":"amd64"}}]}`), string(types.OCIImageIndex), "amd64")
	f.Add([]byte(`{"manifests":[{"annotations":{"cname":"metal_pxe","architecture":"arm64"},"digest":"sha256:`+strings.Repeat("b", 64)+`"}]}`), "text/plain", "arm64")
	f.Add([]byte(`{"manifests":[{"artifactType":"`+artifactDisk+`","platform":{"os":"linux","architecture":"amd64","variant":"v3"},"digest":"sha256:`+strings.Repeat("c", 64)+`"}]}`), string(types.OCIImageIndex), "amd64")
	f.Add([]byte(`{"artifactType":"`+artifactDirect+`","config":{"mediaType":"`+typeConfigDirect+`"},"layers":[{"mediaType":"`+typeInitrd+`+gzip","size":3,"digest":"sha256:`+strings.Repeat("d", 64)+`"}]}`), "", "amd64")
	f.Add([]byte(`[]`), "", "")
	f.Fuzz(func(t *testing.T, raw []byte, mediaType, arch string) {
		doc, err := parseDocument("fuzz", raw, types.MediaType(mediaType), arch)
		if err != nil {
			if code := protocol.CodeOf(err); code != protocol.CodeInvalid && code != protocol.CodeNotFound {
				t.Fatalf("%s: %v", code, err)
			}
			return
		}
		if (len(doc.artefacts) == 0) == (len(doc.children) == 0) {
			t.Fatalf("neither or both: %+v", doc)
		}
		seen := make(map[resource.ArtefactKind]bool)
		for _, a := range doc.artefacts {
			if seen[a.Kind] || a.Size <= 0 || !strings.HasPrefix(a.Digest, "sha256:") || len(a.Digest) != 71 {
				t.Fatalf("unsound %+v", a)
			}
			seen[a.Kind] = true
		}
	})
}
