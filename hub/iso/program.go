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
		return size, protocol.Errorf(protocol.CodeConflict, op, "all of %s is there", digest).WithHint("go on with what comes next")
	}
	defer in.Close()
	if at = in.Offset(); at != offset {
		return at, protocol.Errorf(protocol.CodeConflict, op, "the piece begins at %d, and %d bytes are there", offset, at).WithHint("go on at %d", at)
	}
	err = in.Append(ctx, counted{r, func(n int) { s.metrics.received.Add(float64(n)) }})
	if at = in.Offset(); err != nil || at < size {
		return at, err
	}
	return at, in.Finish()
}

// Resume reads how much of a content is there for sure: after a death of the hub it is less than was written, and one of which
// all came has yet to be compared, which it does. The codes are those of [Shelf.Take].
func (s *Shelf) Resume(ctx context.Context, digest string, size int64) (at int64, err error) {
	in, err := s.Receive(ctx, digest, size)
	if err != nil {
		return 0, err
	}
	if in == nil {
		return size, nil
	}
	defer in.Close()
	if at = in.Offset(); at < size {
		return at, nil
	}
	if err := in.Finish(); protocol.CodeOf(err) != protocol.CodeInvalid {
		return at, err
	}
	return 0, nil // it was of something else, and is gone
}
