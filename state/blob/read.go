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

// Has reports whether the blob is there, complete.
func (s *Store) Has(digest string) bool {
	name, err := parseDigest("blob", digest)
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.blobs[name] != nil
}

// Size is how long a blob is, in bytes; there is false without it. It is no use of it.
func (s *Store) Size(digest string) (size int64, there bool) {
	name, err := parseDigest("blob", digest)
	if err != nil {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.blobs[name]
	if e == nil {
		return 0, false
	}
	return e.size, true
}

// Digests lists the blobs that are there, in order.
func (s *Store) Digests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]string, 0, len(s.blobs))
	for name := range s.blobs {
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
	e := s.blobs[name]
	if e == nil {
		return nil, 0, notFound(op, digest)
	}
	f, err := os.Open(s.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		// Somebody removed it behind our back; it can be written again.
		s.forget(name)
		return nil, 0, notFound(op, digest)
	}
	if err != nil {
		return nil, 0, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	s.uses++
	e.lastUse = s.uses
	// A zero time leaves the modification time alone.
	if err := os.Chtimes(s.path(name), time.Now(), time.Time{}); err != nil {
		s.cfg.Logger.Warn("time of last use not kept", "digest", digest, "err", err)
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
	if got == digest {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.remove(digest[len(digestPrefix):]); err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "the blob %s is damaged and cannot be removed: %w", digest, err)
	}
	return protocol.Errorf(protocol.CodeInvalid, op, "the blob %s in %s is damaged: it hashes to %s; it was removed", digest, s.cfg.Dir, got).
		WithHint("fetch it again and check the disk")
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
	s.pins[name]++
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
	switch s.pins[name] {
	case 0:
		return protocol.Errorf(protocol.CodeInvalid, op, "%s is not pinned", digest)
	case 1:
		delete(s.pins, name)
	default:
		s.pins[name]--
	}
	return nil
}
