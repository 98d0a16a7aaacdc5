package image

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/match"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"rackboot/protocol"
)

// Index is an image with a manifest for each architecture, ready to be pushed. Its
// methods are not safe for concurrent use.
type Index struct {
	index v1.ImageIndex
	// Digests are those of the manifests by architecture. They are what a claim, and the
	// events of a boot, say of the image.
	Digests map[string]string
}

// New puts files together, one Parts for each architecture. Nothing is copied: the files
// must stay as they are until the index was written or pushed; what changed meanwhile is
// refused by its digest.
//
// Errors: invalid (the files, with which and why), not_found, unavailable.
func New(all ...Parts) (*Index, error) {
	x := &Index{index: mutate.IndexMediaType(empty.Index, types.OCIImageIndex), Digests: map[string]string{}}
	for _, p := range all {
		if _, ok := x.Digests[p.Architecture]; ok {
			return nil, protocol.Errorf(protocol.CodeInvalid, "build image", "%s is there twice", p.Architecture)
		}
		img, err := p.image()
		if err != nil {
			return nil, err
		}
		digest, err := img.Digest()
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, "build image", "%w", err)
		}
		x.Digests[p.Architecture] = digest.String()
		x.index = mutate.AppendManifests(x.index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: platform(p.Architecture)}})
	}
	return x, nil
}

func platform(arch string) *v1.Platform { return &v1.Platform{OS: "linux", Architecture: arch} }

// Open reads an OCI image layout, as [Build] and other tools write it.
//
// Errors: invalid (it is none, or of no known architecture).
func Open(dir string) (*Index, error) {
	const op = "read image layout"
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s: %w", dir, err).WithHint("give the folder that rackctl image build wrote")
	}
	m, err := index.IndexManifest()
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s: %w", dir, err)
	}
	x := &Index{index: index, Digests: map[string]string{}}
	for _, d := range m.Manifests {
		if d.Platform != nil && d.MediaType.IsImage() {
			x.Digests[d.Platform.Architecture] = d.Digest.String()
		}
	}
	if len(x.Digests) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s has no image with an architecture", dir).WithHint("rackctl image build %s --uki FILE", dir)
	}
	return x, nil
}

// Build writes an OCI image layout into a folder, or puts an architecture into the one
// that is there, in the place of what that architecture had.
//
// Errors: as New; unavailable (the disk).
func Build(dir string, p Parts) (*Index, error) {
	const op = "write image layout"
	img, err := p.image()
	if err != nil {
		return nil, err
	}
	path, err := layout.FromPath(dir)
	if errors.Is(err, os.ErrNotExist) {
		path, err = layout.Write(dir, empty.Index)
	}
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%s: %w", dir, err).WithHint("give a new folder, or one that rackctl image build wrote")
	}
	if err := path.ReplaceImage(img, match.Platforms(*platform(p.Architecture)), layout.WithPlatform(*platform(p.Architecture))); err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%s: %w", dir, err).WithHint("look whether the disk is full; the image was not written")
	}
	return Open(dir)
}

// Architectures lists what the index is for.
func (x *Index) Architectures() []string { return slices.Sorted(maps.Keys(x.Digests)) }

// pushTries is how often a layer is sent when the registry fails in between.
func pushTries() remote.Backoff {
	return remote.Backoff{Duration: 500 * time.Millisecond, Factor: 2, Jitter: 0.1, Steps: 4}
}

// Push writes the index to a registry under a reference with a tag, blobs first; what the
// registry has already is not sent. progress, if it is not nil, is told how many bytes of
// how many have gone, from one goroutine. It returns the digest of the index.
//
// Errors: invalid (reference), denied, unavailable, timeout.
func (x *Index) Push(ctx context.Context, reference string, opts Options, progress func(done, total int64)) (digest string, err error) {
	const op = "push image"
	parsed, err := parseReference(op, reference)
	if err != nil {
		return "", err
	}
	opts.Mirrors = nil // a mirror is read from
	reg, err := opts.open(ctx, op, parsed)
	if err != nil {
		return "", err
	}
	defer reg.close()
	options := []remote.Option{
		remote.WithContext(ctx), remote.WithAuth(reg.account.authenticator()), remote.WithUserAgent(userAgent),
		remote.WithTransport(reg.guarded), remote.WithRetryBackoff(pushTries()),
	}
	done := make(chan struct{})
	if progress == nil {
		close(done)
	} else {
		updates := make(chan v1.Update, 64)
		options = append(options, remote.WithProgress(updates))
		go func() {
			defer close(done)
			for u := range updates { // WriteIndex closes it, also when it fails
				if u.Error == nil {
					progress(u.Complete, u.Total)
				}
			}
		}()
	}
	err = remote.WriteIndex(parsed, x.index, options...)
	<-done
	if err != nil {
		return "", reg.failed(op, reference, err)
	}
	h, err := x.index.Digest()
	if err != nil {
		return "", protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	return h.String(), nil
}
