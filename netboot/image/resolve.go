package image

import (
	"context"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const (
	// maxDepth bounds nested indexes, the first one included.
	maxDepth = 4
	// maxDocuments bounds the manifests that one resolution reads.
	maxDocuments = 16
)

// Resolve finds out what the reference means for the architecture now. The
// reference is registry/repository:tag or registry/repository@sha256:...; nothing
// is filled in. arch is amd64, arm64 and so on; empty takes that of an index that is for
// one only. Of a reference to a single manifest the architecture is not checked: it has
// none, and with an empty arch the image has none either; see [Only].
//
// Errors: invalid (reference, manifest, digest), not_found (reference, or nothing
// for the architecture), conflict (an index for several, and none was asked for),
// denied, unavailable, timeout.
func Resolve(ctx context.Context, ref, arch string, opts Options) (resource.Image, error) {
	const op = "resolve image"
	parsed, err := parseReference(op, ref)
	if err != nil {
		return resource.Image{}, err
	}
	reg, err := opts.open(ctx, op, parsed)
	if err != nil {
		return resource.Image{}, err
	}
	defer reg.close()
	digest, doc, arch, err := reg.find(ctx, op, parsed.Identifier(), arch)
	if err != nil {
		return resource.Image{}, err
	}
	line, err := reg.commandLine(ctx, op, doc.config)
	if err != nil {
		return resource.Image{}, err
	}
	return resource.Image{Reference: ref, Digest: digest, Architecture: arch, Artefacts: doc.artefacts, CommandLine: line}, nil
}

// parseReference insists on registry and tag or digest: what a default would fill
// in differs between tools, and "latest" is nobody's intent for a server.
func parseReference(op, ref string) (name.Reference, error) {
	parsed, err := name.ParseReference(ref, name.StrictValidation)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "image reference %q: %w", ref, err).
			WithHint("write registry/repository:tag or registry/repository@sha256:digest")
	}
	return parsed, nil
}

// walk is one way through nested indexes.
type walk struct {
	ctx  context.Context
	op   string
	reg  *registry
	arch string
	seen int
	// index says that an index was read: what was found is for the architecture.
	index bool
}

// visit reads a document by tag or digest, and goes on into an index.
func (w *walk) visit(identifier string, depth int) (string, document, error) {
	if w.seen++; depth > maxDepth || w.seen > maxDocuments {
		return "", document{}, protocol.Errorf(protocol.CodeInvalid, w.op, "indexes are nested deeper than %d, or more than %d", maxDepth, maxDocuments)
	}
	got, err := w.reg.manifest(w.ctx, w.op, identifier)
	if err != nil {
		return "", document{}, err
	}
	doc, err := parseDocument(w.op, got.Manifest, got.MediaType, w.arch)
	if err != nil {
		return "", document{}, err
	}
	if doc.artefacts != nil {
		return got.Digest.String(), doc, nil
	}
	w.index = true
	var first error
	for _, child := range doc.children {
		digest, doc, err := w.visit(child.Digest.String(), depth+1)
		if err == nil {
			return digest, doc, nil
		}
		if protocol.CodeOf(err) != protocol.CodeNotFound {
			return "", document{}, err
		}
		if first == nil {
			first = err
		}
	}
	return "", document{}, first
}

// manifest fetches a manifest or index. By digest, its bytes have that digest.
func (r *registry) manifest(ctx context.Context, op, identifier string) (*remote.Descriptor, error) {
	var ref name.Reference = r.repo.Tag(identifier)
	if _, err := v1.NewHash(identifier); err == nil {
		ref = r.repo.Digest(identifier)
	}
	got, err := r.puller.Get(ctx, ref)
	if err != nil {
		return nil, r.failed(op, ref.String(), err)
	}
	return got, nil
}
