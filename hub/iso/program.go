package iso

import (
	"context"
	"io"

	"rackboot/protocol"
)

// Take takes the next piece of a content that has no name of its own: a program of a package of agents. It says how many
// bytes are there then, also with an error. The last piece compares the content with its digest; another one is removed as a whole.
// The codes are those of [Shelf.Append].
func (s *Shelf) Take(ctx context.Context, digest string, size, offset int64, r io.Reader) (at int64, err error) {
	const op = "take piece"
	in, err := s.Receive(ctx, digest, size)
	if err != nil {
		return 0, err
	}
	if in == nil {
		if err := keep(ctx, s.cfg.Depot, digest); err != nil {
			return size, err
		}
		return size, protocol.Errorf(protocol.CodeConflict, op, "all of %s is there", digest).WithHint("go on with what comes next")
	}
	if at, err = in.take(ctx, op, offset, r); err != nil || at < size {
		return at, err
	}
	return at, keep(ctx, s.cfg.Depot, digest)
}

// Kept reports whether a content is there, whole, for good: where hubs share the store, each of them has it or fetches it.
func (s *Shelf) Kept(digest string) bool {
	if s.cfg.Depot != nil {
		return s.cfg.Depot.Whole(digest)
	}
	return s.blobs.Has(digest)
}

// keep has a content that is complete where all hubs of the store find it.
func keep(ctx context.Context, in Depot, digest string) error {
	if in == nil {
		return nil
	}
	_, err := in.Keep(ctx, digest)
	return err
}

// take takes the next piece, which begins at offset, and ends it all with the last one.
func (r *Receiving) take(ctx context.Context, op string, offset int64, body io.Reader) (at int64, err error) {
	defer r.Close()
	if at = r.Offset(); at != offset {
		return at, protocol.Errorf(protocol.CodeConflict, op, "the piece begins at %d, and %d bytes are there", offset, at).WithHint("go on at %d", at)
	}
	err = r.Append(ctx, counted{body, func(n int) { r.s.metrics.received.Add(float64(n)) }})
	if at = r.Offset(); err != nil || at < r.size {
		return at, err
	}
	return at, r.Finish()
}

// Resume reads how much of a content is there for sure: after a death of the hub it is less than was written, and one of which
// all came has yet to be compared, which it does. The codes are those of [Shelf.Take].
func (s *Shelf) Resume(ctx context.Context, digest string, size int64) (at int64, err error) {
	if !s.blobs.Has(digest) && s.cfg.Depot != nil && s.cfg.Depot.Want(digest) { // another hub took it
		return size, keep(ctx, s.cfg.Depot, digest)
	}
	in, err := s.Receive(ctx, digest, size)
	if err != nil {
		return 0, err
	}
	if in == nil {
		return size, keep(ctx, s.cfg.Depot, digest)
	}
	if at, err = resumed(in, size); err != nil || at < size {
		return at, err
	}
	return at, keep(ctx, s.cfg.Depot, digest)
}

func resumed(in *Receiving, size int64) (at int64, err error) {
	defer in.Close()
	if at = in.Offset(); at < size {
		return at, nil
	}
	if err := in.Finish(); protocol.CodeOf(err) != protocol.CodeInvalid {
		return at, err
	}
	return 0, nil // it was of something else, and is gone
}
