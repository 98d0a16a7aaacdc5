package blob

import (
	"context"
	"errors"
	"io"

	"rackboot/protocol"
)

// reader ends with the context's error when that ends.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// source remembers a read error, so that after a copy it is known which side
// failed.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// readError gives the error of the caller's reader a code, unless it has one.
func readError(op, digest string, err error) error {
	var coded *protocol.Error
	switch {
	case errors.As(err, &coded):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return protocol.Errorf(protocol.CodeTimeout, op, "%s: %w", digest, err)
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "read %s: %w", digest, err)
}
