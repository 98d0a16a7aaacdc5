package catalogue

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// maxManifests bounds the manifests of an index.
const maxManifests = 1000

// ociDocument is as much of an image index or an image manifest as entries need (OCI image
// specification, image-index.md and manifest.md; Docker's lists have the same fields).
type ociDocument struct {
	SchemaVersion int `json:"schemaVersion"`
	Manifests     []struct {
		Digest   string `json:"digest"`
		Platform struct {
			Architecture string `json:"architecture"`
		} `json:"platform"`
	} `json:"manifests"`
	Layers []struct{} `json:"layers"`
}

// FromOCIIndex makes the entry of an OCI index: for each architecture the manifest by its
// digest. A single manifest is for the one architecture that the options name, because it
// does not say its own. raw is as the registry gave it, byte for byte: its digest is the
// source's. The codes are those of [FromStream].
func FromOCIIndex(raw []byte, o ImportOptions) ([]*resource.BootImage, error) {
	const op = "read OCI index"
	if err := o.check(op, raw); err != nil {
		return nil, err
	}
	if o.Repository == "" || o.Version == "" {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "repository and version are needed: an index says neither").WithHint("give --version, and the reference that the index is of")
	}
	var d ociDocument
	if err := decode(op, raw, &d); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(raw)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	archs := map[string]resource.BootImageArch{}
	switch {
	case d.SchemaVersion != 2:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "its schemaVersion is %d, not 2", d.SchemaVersion).WithHint("give an OCI image index or image manifest")
	case len(d.Manifests) > maxManifests:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "it has %d manifests, more than %d", len(d.Manifests), maxManifests)
	case d.Layers != nil && len(o.Architectures) != 1:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "it is a single manifest, which does not say its architecture").WithHint("name the architecture with --arch")
	case d.Layers != nil:
		archs[o.Architectures[0]] = o.image(digest)
	}
	for _, m := range d.Manifests {
		if a := m.Platform.Architecture; o.wanted(a) {
			if was, twice := archs[a]; twice {
				return nil, protocol.Errorf(protocol.CodeInvalid, op, "it has two manifests for %s, %s and %.80s", a, was.Image, m.Digest).WithHint("name the one that is meant by its own digest, with --arch")
			}
			archs[a] = o.image(m.Digest)
		}
	}
	if err := o.lacking(op, func(a string) bool { _, ok := archs[a]; return ok }); err != nil {
		return nil, err
	}
	if len(archs) == 0 {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "there is nothing for %v in it", resource.BootArchitectures())
	}
	b, err := o.entry(op, resource.SourceOCI, o.Version, digest, archs)
	if err != nil {
		return nil, err
	}
	return slices.Clip([]*resource.BootImage{b}), nil
}

// image is what an entry has for an architecture.
func (o ImportOptions) image(digest string) resource.BootImageArch {
	out := resource.BootImageArch{Image: o.Repository + "@" + digest}
	if o.Signature != nil {
		wanted := *o.Signature
		out.Signature = &wanted
	}
	return out
}
