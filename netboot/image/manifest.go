package image

import (
	"bytes"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"rackboot/protocol"
)

// kindOf maps the media type of a layer to what it is for; empty for a layer that
// is none of our business. There is no type for a UKI in the older forms.
func kindOf(mediaType string) protocol.ArtefactKind {
	switch mediaType {
	case "application/vnd.ironcore.image.uki":
		return protocol.ArtefactUKI
	case "application/vnd.ironcore.image.kernel",
		"application/io.gardenlinux.kernel",
		"application/vnd.ironcore.image.vmlinuz.v1alpha1.vmlinuz":
		return protocol.ArtefactKernel
	case "application/vnd.ironcore.image.initramfs",
		"application/io.gardenlinux.initrd",
		"application/vnd.ironcore.image.initramfs.v1alpha1.initramfs":
		return protocol.ArtefactInitramfs
	case "application/vnd.ironcore.image.squashfs",
		"application/io.gardenlinux.squashfs",
		"application/vnd.ironcore.image.squashfs.v1alpha1.squashfs":
		return protocol.ArtefactSquashfs
	}
	return ""
}

const (
	annotationCName        = "cname"        // Garden Linux: flavour of the image
	annotationArchitecture = "architecture" // Garden Linux: in place of the platform
	cnamePXE               = "metal_pxe"
	osLinux                = "linux"
)

// document is a manifest or an index, told apart.
type document struct {
	children  []v1.Descriptor // of an index: those for the architecture, best first
	artefacts []protocol.Artefact
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
	artefacts, err := selectLayers(op, manifest.Layers)
	return document{artefacts: artefacts}, err
}

func looksLikeIndex(raw []byte) bool {
	index, err := v1.ParseIndexManifest(bytes.NewReader(raw))
	return err == nil && (index.MediaType.IsIndex() || len(index.Manifests) > 0)
}

// selectChildren returns where to look for the architecture. Garden Linux put the
// flavours of an image next to each other under one platform; there the one for
// network boot counts. Nested indexes often carry no platform, and come last.
func selectChildren(op string, all []v1.Descriptor, arch string) ([]v1.Descriptor, error) {
	var exact, nested []v1.Descriptor
	var have []string
	for _, d := range all {
		if strings.HasPrefix(d.Annotations[annotationCName], cnamePXE) && d.Annotations[annotationArchitecture] == arch {
			return []v1.Descriptor{d}, nil
		}
		switch {
		case d.Platform == nil || d.Platform.Architecture == "":
			if d.MediaType.IsIndex() {
				nested = append(nested, d)
			}
		case d.Platform.Architecture == arch && (d.Platform.OS == osLinux || d.Platform.OS == ""):
			exact = append(exact, d)
		default:
			if p := d.Platform.OS + "/" + d.Platform.Architecture; !slices.Contains(have, p) {
				have = append(have, p)
			}
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

func nothingFor(op, arch string, have []string) error {
	text := "none with a platform"
	if len(have) > 0 {
		text = strings.Join(have, ", ")
	}
	return protocol.Errorf(protocol.CodeNotFound, op, "nothing for %s/%s in the index; it has %s", osLinux, arch, text).
		WithHint("build the image for %s, or correct the server's architecture", arch)
}

// selectLayers picks the artefacts, in the order of the layers.
func selectLayers(op string, layers []v1.Descriptor) ([]protocol.Artefact, error) {
	var out []protocol.Artefact
	for _, l := range layers {
		kind := kindOf(string(l.MediaType))
		if kind == "" {
			continue
		}
		if slices.ContainsFunc(out, func(a protocol.Artefact) bool { return a.Kind == kind }) {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "manifest has more than one %s layer", kind).
				WithHint("an image has one layer of each kind; build it anew")
		}
		if l.Digest.Algorithm != "sha256" || l.Size <= 0 {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s layer has digest %q and size %d", kind, l.Digest, l.Size).
				WithHint("layers need a sha256 digest and a size")
		}
		out = append(out, protocol.Artefact{Kind: kind, Digest: l.Digest.String(), Size: l.Size, MediaType: string(l.MediaType)})
	}
	if len(out) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "manifest has no boot artefact among its %d layers", len(layers)).
			WithHint("a boot image has layers of a type such as application/vnd.ironcore.image.uki; is this a container image?")
	}
	return out, nil
}
