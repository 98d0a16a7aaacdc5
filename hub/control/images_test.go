package control

import (
	"context"
	"slices"
	"testing"

	"rackboot/netboot/image"
	"rackboot/protocol"
)

// movingTag resolves a tag to another digest each time.
type movingTag struct{ asked int }

func (m *movingTag) Resolve(_ context.Context, ref, arch string) (protocol.Image, error) {
	m.asked++
	return bootable(ref, arch, string(rune('0'+m.asked))), nil
}

func (m *movingTag) Require(img protocol.Image, method protocol.BootTarget) error {
	return image.Require(img, method)
}

func bootable(ref, arch, digit string) protocol.Image {
	digest := "sha256:"
	for range 64 {
		digest += digit
	}
	return protocol.Image{Reference: ref, Digest: digest, Architecture: arch, Artefacts: []protocol.Artefact{{Kind: protocol.ArtefactUKI, Digest: digest, Size: 1}}}
}

// flakyRegistry is down while down is set, and has no UKI while bare is set.
type flakyRegistry struct {
	down, bare bool
	movingTag
}

func (f *flakyRegistry) Resolve(ctx context.Context, ref, arch string) (protocol.Image, error) {
	if f.down {
		return protocol.Image{}, protocol.Errorf(protocol.CodeUnavailable, "resolve", "registry does not answer")
	}
	img, err := f.movingTag.Resolve(ctx, ref, arch)
	if f.bare {
		img.Artefacts = nil
	}
	return img, err
}

// partsRegistry has images of a kernel and an initramfs.
type partsRegistry struct{ movingTag }

func (p *partsRegistry) Resolve(ctx context.Context, ref, arch string) (protocol.Image, error) {
	img, err := p.movingTag.Resolve(ctx, ref, arch)
	digest := img.Artefacts[0].Digest
	img.Artefacts = []protocol.Artefact{{Kind: protocol.ArtefactKernel, Digest: digest, Size: 1}, {Kind: protocol.ArtefactInitramfs, Digest: digest, Size: 1}}
	return img, err
}

// Claims that wait for the same image are answered together, with what the registry says once; who
// comes later asks anew, and so does each who had no answer.
func TestManyWaitForOneImage(t *testing.T) {
	images := &flakyRegistry{down: true}
	b := newBench(t, images)
	r := b.control.images
	of := func(claim string) question {
		return question{claim, "registry.example/os:1", "amd64", protocol.TargetUefiHTTP}
	}
	digests := func(claims ...string) (out []string) {
		for _, c := range claims {
			img, _ := r.get("rack/r1", of(c))
			if img == nil {
				out = append(out, "")
				continue
			}
			out = append(out, img.Digest[len(img.Digest)-1:])
		}
		return out
	}
	tries := func() {
		b.now = b.now.Add(resolvePauseMax)
		r.jobs.Work(t.Context())
	}
	first := []string{"c1", "c2", "c3"}
	digests(first...)
	tries()
	if got := digests(first...); !slices.Equal(got, []string{"", "", ""}) {
		t.Errorf("no registry answers, and there are %q", got)
	}
	images.down = false
	tries()
	if got := digests(first...); !slices.Equal(got, []string{"1", "1", "1"}) || images.asked != 1 {
		t.Errorf("got %q, asked %d times", got, images.asked)
	}
	later := []string{"c4", "c5", "c1"}
	digests(later...)
	tries()
	if got := digests(later...); !slices.Equal(got, []string{"2", "2", "1"}) || images.asked != 2 {
		t.Errorf("later got %q, asked %d times", got, images.asked)
	}
	for _, c := range []string{"c1", "c2", "c3", "c4", "c5"} {
		r.forgetOf(c)
	}
	if n := len(r.found) + len(r.last) + len(r.waits) + len(r.wanted); n != 0 {
		t.Errorf("%d are kept of claims that are gone", n)
	}
}
