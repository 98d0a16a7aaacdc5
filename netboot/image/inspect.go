package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// headSize is how much is read of an artefact: headers of PE images and kernels are
// within the first page or two.
const headSize = 32 << 10

// Inspect reads the beginning of every artefact of a resolved image and says whether it
// is what it is called, and for the image's architecture: layers are called by whoever
// pushed them, and firmware says nothing when it is given the wrong thing. A registry
// that knows no ranges is read that far. What the rest is, the digest says when the
// image is pulled.
//
// Errors: invalid (which artefact, what it is, what to do), and those of Pull.
func Inspect(ctx context.Context, img resource.Image, opts Options) error {
	const op = "inspect image"
	parsed, err := parseReference(op, img.Reference)
	if err != nil {
		return err
	}
	reg, err := opts.open(ctx, op, parsed)
	if err != nil {
		return err
	}
	defer reg.close()
	login, err := transport.NewWithContext(ctx, reg.repo.Registry, reg.account.authenticator(), reg.guarded, []string{reg.repo.Scope(transport.PullScope)})
	if err != nil {
		return reg.failed(op, img.Reference, err)
	}
	client := &http.Client{Transport: login}
	for _, a := range img.Artefacts {
		if a.Kind == resource.ArtefactISO {
			switch err := reg.inspectISO(ctx, client, a, img.Architecture); {
			case protocol.CodeOf(err) == protocol.CodeInvalid:
				return protocol.Errorf(protocol.CodeInvalid, op, "the %s of %s (%s) cannot be booted: %w", a.Kind, img.Reference, a.Digest, err).WithHint("%s", protocol.HintOf(err))
			case err != nil:
				return reg.failed(op, string(a.Kind)+" "+a.Digest, err)
			}
			continue
		}
		head, err := reg.head(ctx, client, a)
		if err != nil {
			return reg.failed(op, string(a.Kind)+" "+a.Digest, err)
		}
		if why := inspect(a, head, img.Architecture); why != nil {
			return protocol.Errorf(protocol.CodeInvalid, op, "the %s of %s (%s) cannot be booted: it %w", a.Kind, img.Reference, a.Digest, why).
				WithHint("build the image for %s with the right file as its %s layer (%s)", img.Architecture, a.Kind, a.MediaType)
		}
	}
	return nil
}

// head is the beginning of an artefact.
func (r *registry) head(ctx context.Context, client *http.Client, a resource.Artefact) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s://%s/v2/%s/blobs/%s", r.repo.Scheme(), r.host, r.repo.RepositoryStr(), a.Digest), http.NoBody)
	if err != nil {
		return nil, err
	}
	want := min(a.Size, headSize)
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Range", fmt.Sprintf("bytes=0-%d", want-1)) // RFC 9110, section 14.2
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() // what a registry without ranges would send besides is not read
	if err := transport.CheckError(resp, http.StatusOK, http.StatusPartialContent); err != nil {
		return nil, err
	}
	head := make([]byte, want)
	n, err := io.ReadFull(resp.Body, head)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return nil, protocol.Errorf(protocol.CodeInvalid, "registry", "%s sent %d of %d bytes", r.host, n, want).
			WithHint("registry %s serves truncated content; push the image again, or use another mirror", r.host)
	}
	return head, err
}
