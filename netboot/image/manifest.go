package image

import (
	"bytes"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const (
	annotationCName        = "cname"        // Garden Linux: flavour of the image
	annotationArchitecture = "architecture" // Garden Linux: in place of the platform
	cnamePXE               = "metal_pxe"
	osLinux                = "linux"
)

// baseline are the variants of the architectures that every machine of them is.
func baseline(arch, variant string) bool {
	switch variant {
	case "":
		return true
	case "v1":
		return arch == "amd64"
	case "v8", "v8.0":
		return arch == "arm64"
	}
	return false
}

// document is a manifest or an index, told apart.
type document struct {
	children  []v1.Descriptor // of an index: those for the architecture, best first
	artefacts []resource.Artefact
	config    v1.Descriptor // of a manifest
}

// parseDocument reads a manifest or an index. The media type that the registry
// says is a hint only: several registries answer text/plain or nothing. Errors are
// invalid; not_found if an index has nothing for the architecture.
func parseDocument(op string, raw []byte, mediaType types.MediaType, arch string) (document, error) {
	if mediaType.IsIndex() || looksLikeIndex(raw) {
		index, err := v1.ParseIndexManifest(bytes.NewReader(raw))
		if err != nil {
			return document{}, protocol.Errorf(protocol.CodeInvalid, op, "index is malformed: %w", err)
		}
		children, err := selectChildren(op, index.Manifests, arch)
		return document{children: children}, err
	}
	manifest, err := v1.ParseManifest(bytes.NewReader(raw))
	if err != nil {
		return document{}, protocol.Errorf(protocol.CodeInvalid, op, "manifest is malformed: %w", err)
	}
	if diskOnly(manifest.ArtifactType) || diskOnly(string(manifest.Config.MediaType)) {
		return document{}, protocol.Errorf(protocol.CodeInvalid, op, "it is an image to be written to a disk (%s)", artifactDisk).
			WithHint("build it as a UKI (%s), or as kernel and initrd (%s)", artifactEFI, artifactDirect)
	}
	artefacts, err := selectLayers(op, manifest.Layers)
	return document{artefacts: artefacts, config: manifest.Config}, err
}

func looksLikeIndex(raw []byte) bool {
	index, err := v1.ParseIndexManifest(bytes.NewReader(raw))
	return err == nil && (index.MediaType.IsIndex() || len(index.Manifests) > 0)
}

// selectChildren returns where to look for the architecture, best first. What is to be
// written to a disk is not looked at, nor is what needs more than every machine of the
// architecture has. Nested indexes often carry no platform, and come last. Garden Linux
// put the flavours of an image next to each other under one platform, or under none;
// there, and only there, the flavour for network boot counts.
func selectChildren(op string, all []v1.Descriptor, arch string) ([]v1.Descriptor, error) {
	var exact, nested []v1.Descriptor
	var have []string
	for _, d := range all {
		p := d.Platform
		none := p == nil || p.Architecture == ""
		fits := !none && p.Architecture == arch && (p.OS == osLinux || p.OS == "") && baseline(arch, p.Variant)
		legacy := strings.HasPrefix(d.Annotations[annotationCName], cnamePXE) && d.Annotations[annotationArchitecture] == arch
		switch {
		case diskOnly(d.ArtifactType):
			have = note(have, "a disk image")
		case legacy && (none || fits):
			return []v1.Descriptor{d}, nil
		case fits:
			exact = append(exact, d)
		case !none:
			have = note(have, p.OS+"/"+p.Architecture+strings.TrimSuffix("/"+p.Variant, "/"))
		case d.MediaType.IsIndex():
			nested = append(nested, d)
		}
	}
	if len(exact) > 0 {
		return exact[:1], nil
	}
	if len(nested) > 0 {
		return nested, nil
	}
	return nil, nothingFor(op, arch, have)
}

// maxNoted bounds what an error lists of an index.
const maxNoted = 16

func note(have []string, what string) []string {
	if len(have) >= maxNoted || slices.Contains(have, what) {
		return have
	}
	return append(have, what)
}

func nothingFor(op, arch string, have []string) error {
	text := "none with a platform"
	if len(have) > 0 {
		text = strings.Join(have, ", ")
	}
	return protocol.Errorf(protocol.CodeNotFound, op, "nothing for %s/%s in the index; it has %s", osLinux, arch, text).
		WithHint("build the image for %s, or correct the server's architecture", arch)
}

// selectLayers picks the artefacts, in the order of the layers.
func selectLayers(op string, layers []v1.Descriptor) ([]resource.Artefact, error) {
	var out []resource.Artefact
	for _, l := range layers {
		kind := kindOf(string(l.MediaType))
		if kind == "" {
			continue
		}
		if i := slices.IndexFunc(out, func(a resource.Artefact) bool { return a.Kind == kind }); i >= 0 {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "manifest has more than one %s layer: %s (%s) and %s (%s)",
				kind, out[i].Digest, out[i].MediaType, l.Digest, l.MediaType).
				WithHint("an image has one layer of each kind; build it anew. Several initrds can be written one after the other into one file")
		}
		if l.Digest.Algorithm != "sha256" || l.Size <= 0 {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s layer has digest %q and size %d", kind, l.Digest, l.Size).
				WithHint("layers need a sha256 digest and a size")
		}
		out = append(out, resource.Artefact{Kind: kind, Digest: l.Digest.String(), Size: l.Size, MediaType: string(l.MediaType)})
	}
	if len(out) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "manifest has no boot artefact among its %d layers", len(layers)).
			WithHint("a boot image has layers of a type such as application/vnd.ironcore.image.uki; is this a container image?")
	}
	return out, nil
}
