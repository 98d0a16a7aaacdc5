package control

import (
	"context"

	"rackboot/netboot/image"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// movingTag resolves a tag to another digest each time.
type movingTag struct{ asked int }

func (m *movingTag) Resolve(_ context.Context, ref, arch string) (resource.Image, error) {
	m.asked++
	return bootable(ref, arch, string(rune('0'+m.asked))), nil
}

func (m *movingTag) Require(img resource.Image, method protocol.BootTarget) error {
	return image.Require(img, method)
}

func bootable(ref, arch, digit string) resource.Image {
	digest := "sha256:"
	for range 64 {
		digest += digit
	}
	return resource.Image{Reference: ref, Digest: digest, Architecture: arch, Artefacts: []resource.Artefact{{Kind: resource.ArtefactUKI, Digest: digest, Size: 1}}}
}

// flakyRegistry is down while down is set, and has no UKI while bare is set.
type flakyRegistry struct {
	down, bare bool
	movingTag
}

func (f *flakyRegistry) Resolve(ctx context.Context, ref, arch string) (resource.Image, error) {
	if f.down {
		return resource.Image{}, protocol.Errorf(protocol.CodeUnavailable, "resolve", "registry does not answer")
	}
	img, err := f.movingTag.Resolve(ctx, ref, arch)
	if f.bare {
		img.Artefacts = nil
	}
	return img, err
}

// partsRegistry has images of a kernel and an initramfs.
type partsRegistry struct{ movingTag }

func (p *partsRegistry) Resolve(ctx context.Context, ref, arch string) (resource.Image, error) {
	img, err := p.movingTag.Resolve(ctx, ref, arch)
	digest := img.Artefacts[0].Digest
	img.Artefacts = []resource.Artefact{{Kind: resource.ArtefactKernel, Digest: digest, Size: 1}, {Kind: resource.ArtefactInitramfs, Digest: digest, Size: 1}}
	return img, err
}
