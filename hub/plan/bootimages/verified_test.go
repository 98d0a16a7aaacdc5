package bootimages

import (
	"strings"
	"testing"

	"rackboot/protocol/resource"
)

// Row 22: how the image was verified is stored with the revision, by architecture, and a
// difference of it is shown; a return has what it copies.
func TestVerified(t *testing.T) {
	hash := func(digit string) string { return strings.Repeat(digit, 64) }
	named := &resource.BootImageSignature{Scheme: resource.SignatureOpenPGP, URL: "https://m.example/k.sig"}
	e := entry("1.0")
	e.Spec.Architectures["amd64"] = resource.BootImageArch{Files: []resource.BootImageFile{
		{Kind: resource.ArtefactKernel, SHA256: hash("1"), Signature: named},
		{Kind: resource.ArtefactInitramfs, SHA256: hash("2")},
		{Kind: resource.ArtefactSquashfs, SHA256: hash("3")},
	}}
	e.Spec.Architectures["arm64"] = resource.BootImageArch{Image: "r.example/os@sha256:" + hash("b")}
	e.Status.Verified = map[string]resource.BootImageVerified{
		"sha256:" + hash("1"): {Signature: &resource.ISOSignature{Scheme: resource.SignatureOpenPGP, Key: "ABCD", Keyring: resource.KeyringHub}},
		"sha256:" + hash("2"): {},
	}
	imgs := images("a")
	imgs["arm64"] = resource.Image{Digest: "sha256:" + hash("b"), Architecture: "arm64"}
	spec := Revision(Next{Group: group(), Entry: e, Images: imgs, At: day(), By: "hub"})
	for arch, want := range map[string][]resource.VerifiedFile{
		"amd64": {
			{Kind: resource.ArtefactKernel, SHA256: "sha256:" + hash("1"), Scheme: resource.SignatureOpenPGP, Key: "ABCD", Keyring: resource.KeyringHub},
			{Kind: resource.ArtefactInitramfs, SHA256: "sha256:" + hash("2"), Unsigned: unsignedEntry},
			{Kind: resource.ArtefactSquashfs, SHA256: "sha256:" + hash("3"), Unsigned: unsignedUnknown},
		},
		"arm64": {{SHA256: "sha256:" + hash("b"), Unsigned: unsignedOCI}},
	} {
		got := spec.Verified[arch]
		if len(got) != len(want) {
			t.Errorf("%s: %+v", arch, got)
			continue
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: %+v, want %+v", arch, got[i], want[i])
			}
		}
	}
	// A signature of an OCI image is of what the entry names, which may be an index.
	e.Spec.Architectures["arm64"] = resource.BootImageArch{Image: "r.example/os@sha256:" + hash("c"), Signature: &resource.ImageSignature{Scheme: resource.SignatureCosign}}
	if v := verified(e, imgs)["arm64"]; len(v) != 1 || v[0] != (resource.VerifiedFile{SHA256: "sha256:" + hash("b"), Unsigned: unsignedUnknown}) {
		t.Errorf("an image that is not proved: %+v", v)
	}
	e.Status.Verified["sha256:"+hash("c")] = resource.BootImageVerified{Signature: &resource.ISOSignature{Scheme: resource.SignatureCosign, Key: "release", Keyring: resource.KeyringHub}}
	v := verified(e, imgs)["arm64"]
	if len(v) != 1 || v[0] != (resource.VerifiedFile{SHA256: "sha256:" + hash("b"), Scheme: resource.SignatureCosign, Key: "release", Keyring: resource.KeyringHub}) || verifiedWords(v) != "cosign release" {
		t.Errorf("an image that is signed: %+v", v)
	}
	own := Revision(Next{Group: group(), Images: images("c"), At: day(), By: "hub"})
	if v := own.Verified["amd64"]; len(v) != 1 || v[0].SHA256 != "sha256:"+hash("c") || v[0].Unsigned == "" {
		t.Errorf("an image of the owner's own: %+v", v)
	}
	a, b := &resource.GroupRevision{Spec: *spec}, &resource.GroupRevision{Spec: *own}
	shown := ""
	for _, c := range Diff(a, b) {
		if c.Field == "verified[amd64]" {
			shown = c.From + " -> " + c.To
		}
	}
	if !strings.HasPrefix(shown, "kernel openpgp ABCD; initramfs unsigned: ") || !strings.Contains(shown, "-> unsigned: an OCI image") {
		t.Errorf("the difference: %q", shown)
	}
	back := Rollback(Next{Group: group(), Current: b, History: []*resource.GroupRevision{a, b}, At: day()}, a, resource.CauseRollback)
	if len(back.Verified["amd64"]) != 3 || back.Verified["amd64"][0].Key != "ABCD" {
		t.Errorf("a return: %+v", back.Verified)
	}
}
