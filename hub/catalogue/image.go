package catalogue

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Image is the image of files that an entry has for an architecture, which agents get from
// the hub. Its digest is that of its description: what is booted, and with which command
// line. The codes are not_found (nothing for the architecture, or no files) and unavailable
// (a file is not verified yet): there is never an image with a file that was not.
func Image(b *resource.BootImage, arch string) (resource.Image, error) {
	const op = "take boot image"
	name := b.Metadata.Name
	a, ok := b.Spec.Architectures[arch]
	if !ok || len(a.Files) == 0 {
		return resource.Image{}, protocol.Errorf(protocol.CodeNotFound, op, "boot image %s has no files for %q", name, arch).
			WithHint("rackctl describe bootimage %s shows what it has; a server's architecture is in its spec", name)
	}
	img := resource.Image{Architecture: arch, CommandLine: a.CommandLine, Source: resource.ImageFromHub}
	for _, f := range a.Files {
		v, ok := b.Status.Verified[FileDigest(f)]
		if !ok {
			return resource.Image{}, protocol.Errorf(protocol.CodeUnavailable, op, "the %s of boot image %s for %s is not verified", f.Kind, name, arch).
				WithHint("it is fetched and verified by itself; rackctl describe bootimage %s says how far it is", name)
		}
		img.Artefacts = append(img.Artefacts, resource.Artefact{Kind: f.Kind, Digest: v.Digest, Size: v.Size})
	}
	slices.SortFunc(img.Artefacts, func(x, y resource.Artefact) int {
		return slices.Index(resource.ArtefactKinds(), x.Kind) - slices.Index(resource.ArtefactKinds(), y.Kind)
	})
	raw, err := json.Marshal(img)
	if err != nil {
		return resource.Image{}, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	sum := sha256.Sum256(raw)
	img.Digest = "sha256:" + hex.EncodeToString(sum[:])
	img.Reference, img.BootImage = resource.BootImagePrefix+name, name
	return img, nil
}

// FileDigest is the digest by which the status of an entry has what was proved of a file.
func FileDigest(f resource.BootImageFile) string { return "sha256:" + f.SHA256 }
