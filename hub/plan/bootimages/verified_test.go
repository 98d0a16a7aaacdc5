package bootimages

import (
	"strings"
	"testing"

	"rackboot/protocol"
)

// Row 22: how the image was verified is stored with the revision, by architecture, and a
// difference of it is shown; a return has what it copies.
func TestVerified(t *testing.T) {
	hash := func(digit string) string { return strings.Repeat(digit, 64) }
	named := &protocol.BootImageSignature{Scheme: protocol.SignatureOpenPGP, URL: "https://m.example/k.sig"}
	e := entry("1.0")
	e.Spec.Architectures["amd64"] = protocol.BootImageArch{Files: []protocol.BootImageFile{
		{Kind: protocol.ArtefactKernel, SHA256: hash("1"), Signature: named},
		{Kind: protocol.ArtefactInitramfs, SHA256: hash("2")},
		{Kind: protocol.ArtefactSquashfs, SHA256: hash("3")},
	}}
	e.Spec.Architectures["arm64"] = protocol.BootImageArch{Image: "r.example/os@sha256:" + hash("b")}
	e.Status.Verified = map[string]protocol.BootImageVerified{
		"sha256:" + hash("1"): {Signature: &protocol.ISOSignature{Scheme: protocol.SignatureOpenPGP, Key: "ABCD", Keyring: protocol.KeyringHub}},
		"sha256:" + hash("2"): {},
	}
	imgs := images("a")
	imgs["arm64"] = protocol.Image{Digest: "sha256:" + hash("b"), Architecture: "arm64"}
	spec := Revision(Next{Group: group(), Entry: e, Images: imgs, At: day(), By: "hub"})
	for arch, want := range map[string][]protocol.VerifiedFile{
		"amd64": {
			{Kind: protocol.ArtefactKernel, SHA256: "sha256:" + hash("1"), Scheme: protocol.SignatureOpenPGP, Key: "ABCD", Keyring: protocol.KeyringHub},
			{Kind: protocol.ArtefactInitramfs, SHA256: "sha256:" + hash("2"), Unsigned: unsignedEntry},
			{Kind: protocol.ArtefactSquashfs, SHA256: "sha256:" + hash("3"), Unsigned: unsignedUnknown},
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
	e.Spec.Architectures["arm64"] = protocol.BootImageArch{Image: "r.example/os@sha256:" + hash("c"), Signature: &protocol.ImageSignature{Scheme: protocol.SignatureCosign}}
	if v := Verified(e, imgs)["arm64"]; len(v) != 1 || v[0] != (protocol.VerifiedFile{SHA256: "sha256:" + hash("b"), Unsigned: unsignedUnknown}) {
		t.Errorf("an image that is not proved: %+v", v)
	}
	e.Status.Verified["sha256:"+hash("c")] = protocol.BootImageVerified{Signature: &protocol.ISOSignature{Scheme: protocol.SignatureCosign, Key: "release", Keyring: protocol.KeyringHub}}
	v := Verified(e, imgs)["arm64"]
	if len(v) != 1 || v[0] != (protocol.VerifiedFile{SHA256: "sha256:" + hash("b"), Scheme: protocol.SignatureCosign, Key: "release", Keyring: protocol.KeyringHub}) || verifiedWords(v) != "cosign release" {
		t.Errorf("an image that is signed: %+v", v)
	}
	own := Revision(Next{Group: group(), Images: images("c"), At: day(), By: "hub"})
	if v := own.Verified["amd64"]; len(v) != 1 || v[0].SHA256 != "sha256:"+hash("c") || v[0].Unsigned == "" {
		t.Errorf("an image of the owner's own: %+v", v)
	}
	a, b := &protocol.GroupRevision{Spec: *spec}, &protocol.GroupRevision{Spec: *own}
	shown := ""
	for _, c := range Diff(a, b) {
		if c.Field == "verified[amd64]" {
			shown = c.From + " -> " + c.To
		}
	}
	if !strings.HasPrefix(shown, "kernel openpgp ABCD; initramfs unsigned: ") || !strings.Contains(shown, "-> unsigned: an OCI image") {
		t.Errorf("the difference: %q", shown)
	}
	back := Rollback(Next{Group: group(), Current: b, History: []*protocol.GroupRevision{a, b}, At: day()}, a, protocol.CauseRollback)
	if len(back.Verified["amd64"]) != 3 || back.Verified["amd64"][0].Key != "ABCD" {
		t.Errorf("a return: %+v", back.Verified)
	}
}
