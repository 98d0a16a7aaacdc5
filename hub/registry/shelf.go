package registry

import (
	"context"
	"errors"
	"io"
	"os"

	"rackboot/hub/contents"
	"rackboot/protocol"
	"rackboot/state/blob"
)

// Shelf is the registry's folder where hubs share a store.
func (r *Registry) Shelf() contents.Shelf { return shelf{r} }

type shelf struct{ r *Registry }

// Has implements contents.Shelf.
func (s shelf) Has(digest string) bool { return s.r.blobs.Has(digest) }

// OpenContent implements contents.Shelf.
func (s shelf) OpenContent(digest string) (*os.File, int64, error) { return s.r.blobs.Open(digest) }

// Verify implements contents.Shelf.
func (s shelf) Verify(ctx context.Context, digest string) error {
	return s.r.blobs.Verify(ctx, digest)
}

// Named implements contents.Shelf: what the book of all hubs names.
func (s shelf) Named() (map[string]bool, error) { return s.r.cfg.Shared.Book.Needed() }

// Receive implements contents.Shelf.
func (s shelf) Receive(ctx context.Context, digest string, size int64) (contents.Receiving, error) {
	part, err := s.r.blobs.Part(ctx, digest, size)
	if part == nil || err != nil {
		return nil, err
	}
	return &receiving{part, s.r, size}, nil
}

// receiving is a blob that comes from the servers.
type receiving struct {
	*blob.Part
	r    *Registry
	size int64
}

// Append implements contents.Receiving.
func (in *receiving) Append(ctx context.Context, body io.Reader) error {
	_, err := in.Part.Append(ctx, body)
	return errors.Join(err, in.Sync())
}

// Finish implements contents.Receiving.
func (in *receiving) Finish() error {
	if at := in.Offset(); at < in.size {
		return protocol.Errorf(protocol.CodeConflict, "receive blob", "%d of %d bytes are there", at, in.size)
	}
	return in.Part.Finish()
}

// Close implements contents.Receiving.
func (in *receiving) Close() {
	if err := in.Part.Close(); err != nil {
		in.r.cfg.Logger.Warn("what came of a blob was not kept", "err", err)
	}
}
