package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"rackboot/protocol"
)

// touchEvery is how exact the time of last use is on the disk.
const touchEvery = time.Minute

// Has reports whether the blob is there, complete.
func (s *Store) Has(digest string) bool {
	name, err := parseDigest("blob", digest)
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.room.blobs[name] != nil
}

// Size is how long a blob is, in bytes; there is false without it. It is no use of it.
func (s *Store) Size(digest string) (size int64, there bool) {
	name, err := parseDigest("blob", digest)
	if err != nil {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.room.blobs[name]
	if e == nil {
		return 0, false
	}
	return e.size, true
}

// Digests lists the blobs that are there, in order.
func (s *Store) Digests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]string, 0, len(s.room.blobs))
	for name := range s.room.blobs {
		out = append(out, digestPrefix+name)
	}
	slices.Sort(out)
	return out
}

// Open returns the blob's file, for the caller to close, and its size in
// bytes. The file stays readable if the blob is removed meanwhile. Errors:
// invalid, not_found, internal.
func (s *Store) Open(digest string) (*os.File, int64, error) {
	const op = "open blob"
	name, err := parseDigest(op, digest)
	if err != nil {
		return nil, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.room.blobs[name]
	if e == nil {
		return nil, 0, notFound(op, digest)
	}
	f, err := os.Open(s.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		// Somebody removed it behind our back; it can be written again.
		s.room.forget(name)
		return nil, 0, notFound(op, digest)
	}
	if err != nil {
		return nil, 0, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	if info, err := f.Stat(); err != nil || info.Size() != e.size {
		s.cfg.Logger.Warn("blob has lost some of its bytes and is removed; check the disk", "digest", digest, "err", err)
		if err := errors.Join(f.Close(), s.remove(name)); err != nil {
			return nil, 0, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
		}
		return nil, 0, notFound(op, digest)
	}
	s.room.recent.MoveToFront(e.at)
	if now := time.Now(); now.Sub(e.touched) >= touchEvery {
		e.touched = now
		// A zero time leaves the modification time alone.
		if err := os.Chtimes(s.path(name), now, time.Time{}); err != nil {
			s.cfg.Logger.Warn("time of last use not kept", "digest", digest, "err", err)
		}
	}
	return f, e.size, nil
}

func notFound(op, digest string) error {
	return protocol.Errorf(protocol.CodeNotFound, op, "no blob %s", digest).
		WithHint("it was not fetched yet, or was removed to make room")
}

// Verify reads the blob and compares its hash. A damaged one is removed, so
// that it can be fetched again. Errors: invalid (damaged, or no digest),
// not_found, timeout (ctx ended), internal.
func (s *Store) Verify(ctx context.Context, digest string) error {
	const op = "verify blob"
	f, _, err := s.Open(digest)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, reader{ctx, f}); err != nil {
		return readError(op, digest, err)
	}
	got := digestPrefix + hex.EncodeToString(h.Sum(nil))
	s.mu.Lock()
	defer s.mu.Unlock()
	if got == digest {
		if e := s.room.blobs[digest[len(digestPrefix):]]; e != nil {
			e.hashed = true
		}
		return nil
	}
	if err := s.remove(digest[len(digestPrefix):]); err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "the blob %s is damaged and cannot be removed: %w", digest, err)
	}
	return protocol.Errorf(protocol.CodeInvalid, op, "the blob %s in %s is damaged: it hashes to %s; it was removed", digest, s.cfg.Dir, got).
		WithHint("fetch it again and check the disk")
}

// VerifyOnce is Verify, but believes a blob that was hashed since the start: when it was
// verified, or by [Draft.Keep].
func (s *Store) VerifyOnce(ctx context.Context, digest string) error {
	if name, err := parseDigest("verify blob", digest); err == nil && s.hashed(name) {
		return nil
	}
	return s.Verify(ctx, digest)
}

func (s *Store) hashed(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.room.blobs[name]
	return e != nil && e.hashed
}

// PinIfThere pins a blob, and reports whether it is there; else it pins nothing.
func (s *Store) PinIfThere(digest string) bool {
	name, err := parseDigest("pin blob", digest)
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room.blobs[name] == nil {
		return false
	}
	s.room.pins[name]++
	return true
}

// Pin keeps the blob from being removed until Unpin was called as often. A
// blob that is not there yet may be pinned. Errors: invalid.
func (s *Store) Pin(digest string) error {
	name, err := parseDigest("pin blob", digest)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.room.pins[name]++
	return nil
}

// Unpin undoes one Pin. Errors: invalid, also if it is not pinned.
func (s *Store) Unpin(digest string) error {
	const op = "unpin blob"
	name, err := parseDigest(op, digest)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room.pins[name] == 0 {
		return protocol.Errorf(protocol.CodeInvalid, op, "%s is not pinned", digest)
	}
	s.room.unpin(name)
	return nil
}
