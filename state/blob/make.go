package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"

	"rackboot/protocol"
)

// ErrLimit is in the chain of an error of Make when the content is longer than it may be.
var ErrLimit = errors.New("too long")

// Make asks for as much room again as has come, between these, in bytes: small contents take
// none from others that are written at once.
const (
	firstStep = 64 << 10
	makeStep  = 64 << 20
)

// Make stores what fill writes, at most limit bytes, under the digest that it has. How
// long it gets is not known before, so that it may end for want of room at any time; then
// nothing of it remains, as after every error. Errors: invalid (ErrLimit), unavailable
// (insufficient storage), timeout (ctx ended), internal, and that of fill.
func (s *Store) Make(ctx context.Context, limit int64, fill func(w io.Writer) error) (digest string, size int64, err error) {
	const op = "write blob"
	tmp, err := os.CreateTemp(s.cfg.Dir, tmpPrefix)
	if err != nil {
		return "", 0, s.diskError(op, "new content", 0, err)
	}
	m := &maker{s: s, ctx: ctx, limit: limit, out: &steady{file: tmp}, hash: sha256.New()}
	defer func() {
		s.mu.Lock()
		s.reserved -= m.reserved
		s.mu.Unlock()
		err = errors.Join(err, closed(tmp))
		if rest := os.Remove(tmp.Name()); rest != nil && !errors.Is(rest, os.ErrNotExist) {
			err = errors.Join(err, rest)
		}
	}()
	if err = fill(m); m.err != nil {
		err = m.err // fill may have made another of it
	}
	if err != nil {
		return "", 0, err
	}
	if err := errors.Join(tmp.Chmod(0o400), tmp.Sync()); err != nil {
		return "", 0, s.diskError(op, "new content", 0, err)
	}
	name := hex.EncodeToString(m.hash.Sum(nil))
	s.cfg.Crash.At(PointSynced)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blobs[name] != nil {
		return digestPrefix + name, m.size, nil
	}
	if err := os.Rename(tmp.Name(), s.path(name)); err != nil {
		return "", 0, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	s.cfg.Crash.At(PointRenamed)
	s.add(name, m.size)
	if err := s.dir.Sync(); err != nil {
		return "", 0, protocol.Errorf(protocol.CodeInternal, op, "%w", errors.Join(err, s.remove(name)))
	}
	return digestPrefix + name, m.size, nil
}

func closed(f *os.File) error {
	if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// maker takes what fill writes.
type maker struct {
	s        *Store
	ctx      context.Context
	limit    int64
	out      *steady
	hash     hash.Hash
	size     int64
	reserved int64
	err      error // the first; it stays
}

func (m *maker) Write(b []byte) (int, error) {
	if m.err == nil {
		m.err = m.write(b)
	}
	if m.err != nil {
		return 0, m.err
	}
	return len(b), nil
}

func (m *maker) write(b []byte) error {
	const op = "write blob"
	if err := m.ctx.Err(); err != nil {
		return readError(op, "new content", err)
	}
	next := m.size + int64(len(b))
	if next > m.limit {
		return protocol.Errorf(protocol.CodeInvalid, op, "%w: it has more than %d bytes", ErrLimit, m.limit)
	}
	if err := m.room(next - m.reserved); err != nil {
		return err
	}
	if _, err := m.out.Write(b); err != nil {
		return m.s.diskError(op, "new content", 0, err)
	}
	m.hash.Write(b)
	m.size = next
	return nil
}

// room takes more room if so many bytes lack.
func (m *maker) room(lacking int64) error {
	if lacking <= 0 {
		return nil
	}
	step := max(lacking, min(max(firstStep, m.size), makeStep, m.limit-m.reserved))
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	err := m.s.makeRoom("write blob", "new content", step)
	if err != nil {
		step = lacking
		err = m.s.makeRoom("write blob", "new content", step)
	}
	if err != nil {
		return err
	}
	m.s.reserved += step
	m.reserved += step
	return nil
}
