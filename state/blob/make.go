package blob

import (
	"context"
	"errors"
	"io"
)

// ErrLimit is in the chain of an error of Make when the content is longer than it may be.
var ErrLimit = errors.New("too long")

// Make stores what fill writes, at most limit bytes, under the digest that it has. How
// long it gets is not known before, so that it may end for want of room at any time; then
// nothing of it remains, as after every error. Errors: invalid (ErrLimit), unavailable
// (insufficient storage), timeout (ctx ended), internal, and that of fill.
func (s *Store) Make(ctx context.Context, limit int64, fill func(w io.Writer) error) (digest string, size int64, err error) {
	d, err := s.Draft(0, limit)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, d.Drop(), d.Close()) }()
	m := &maker{ctx: ctx, draft: d}
	if err = fill(m); m.err != nil {
		err = m.err // fill may have made another of it
	}
	if err != nil {
		return "", 0, err
	}
	if digest, size, err = d.Keep(); err != nil {
		return "", 0, err
	}
	return digest, size, s.Unpin(digest)
}

// maker takes what fill writes.
type maker struct {
	ctx   context.Context
	draft *Draft
	err   error // the first; it stays
}

func (m *maker) Write(b []byte) (int, error) {
	if m.err == nil {
		if err := m.ctx.Err(); err != nil {
			m.err = readError("write blob", newContent, err)
		} else {
			_, m.err = m.draft.Write(b)
		}
	}
	if m.err != nil {
		return 0, m.err
	}
	return len(b), nil
}
