package image

import (
	"context"
	"io"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// BlobStore is where blobs go. It is safe for concurrent use.
type BlobStore interface {
	// Has says whether the blob is there, complete and verified.
	Has(digest string) bool
	// Write stores the blob if r gives exactly size bytes with the digest
	// ("sha256:..."), and else nothing at all.
	Write(ctx context.Context, digest string, size int64, r io.Reader) error
}

// Pin is the reference by digest: what Pull takes.
func Pin(img resource.Image) (string, error) {
	const op = "pin image"
	parsed, err := parseReference(op, img.Reference)
	if err != nil {
		return "", err
	}
	pinned := parsed.Context().Digest(img.Digest).Name()
	if _, err := name.NewDigest(pinned, name.StrictValidation); err != nil {
		return "", protocol.Errorf(protocol.CodeInvalid, op, "image digest %q: %w", img.Digest, err)
	}
	return pinned, nil
}

// Pull brings the artefacts of the manifest (registry/repository@sha256:...) into
// the store, those that it does not have. If it has all, no registry is asked. An
// artefact is stored whole or not at all; after an error the ones before it stay.
//
// Errors: invalid (reference without digest; wrong or truncated content, naming
// both digests), not_found, denied, unavailable, timeout, conflict (the manifest
// has no such artefact), and those of the store.
func Pull(ctx context.Context, ref string, artefacts []resource.Artefact, blobs BlobStore, opts Options) error {
	const op = "pull image"
	pinned, err := name.NewDigest(ref, name.StrictValidation)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalid, op, "image reference %q: %w", ref, err).
			WithHint("images are pulled by digest; resolve the tag first")
	}
	if !slices.ContainsFunc(artefacts, func(a resource.Artefact) bool { return !blobs.Has(a.Digest) }) {
		return nil
	}
	reg, err := opts.open(ctx, op, pinned)
	if err != nil {
		return err
	}
	defer reg.close()
	got, err := reg.manifest(ctx, op, pinned.DigestStr())
	if err != nil {
		return err
	}
	doc, err := parseDocument(op, got.Manifest, got.MediaType, "")
	if err != nil {
		return err
	}
	for _, a := range artefacts {
		if !slices.Contains(doc.artefacts, a) {
			return protocol.Errorf(protocol.CodeConflict, op, "%s has no %s %s", ref, a.Kind, a.Digest).
				WithHint("resolve the image anew")
		}
	}
	for _, a := range artefacts {
		if blobs.Has(a.Digest) {
			continue
		}
		n, err := reg.blob(ctx, op, a, blobs)
		if opts.Pulled != nil {
			opts.Pulled(reg.source, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// blob fetches one artefact into the store. n are the bytes that came, also with an error.
func (r *registry) blob(ctx context.Context, op string, a resource.Artefact, blobs BlobStore) (n int64, err error) {
	ref := r.repo.Digest(a.Digest)
	layer, err := r.puller.Layer(ctx, ref)
	if err != nil {
		return 0, r.failed(op, ref.String(), err)
	}
	body, err := layer.Compressed()
	if err != nil {
		return 0, r.failed(op, ref.String(), err)
	}
	defer body.Close()
	v := newVerifier(body, a, r.host)
	err = blobs.Write(ctx, a.Digest, a.Size, v)
	switch {
	case v.err != nil: // what the registry did comes before what the store made of it
		return v.n, r.failed(op, string(a.Kind)+" "+ref.String(), v.err)
	case err != nil:
		return v.n, protocol.Errorf(protocol.CodeOf(err), op, "storing %s %s: %w", a.Kind, a.Digest, err)
	}
	return v.n, nil
}
