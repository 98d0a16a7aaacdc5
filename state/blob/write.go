package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"rackboot/protocol"
)

// The crash points of Write.
const (
	PointSynced  = "blob/write/synced"  // the temporary file is on disk
	PointRenamed = "blob/write/renamed" // the blob has its name, perhaps not on disk
)

// Write stores size bytes of r that hash to digest. It returns without reading
// r if the blob is there, and waits if another Write of it is under way. A read
// of r that hangs is r's to end when ctx does, as an HTTP body is. When Write
// returns nil the blob is on disk; otherwise nothing of it remains. Errors:
// invalid (wrong digest or size), unavailable (insufficient storage; r failed),
// timeout (ctx ended), internal.
func (s *Store) Write(ctx context.Context, digest string, size int64, r io.Reader) error {
	const op = "write blob"
	name, err := parseDigest(op, digest)
	if err != nil {
		return err
	}
	if size < 0 {
		return protocol.Errorf(protocol.CodeInvalid, op, "%s: size %d", digest, size)
	}
	done, err := s.begin(ctx, op, digest, size)
	if err != nil || done == nil {
		return err
	}
	err = s.store(ctx, op, digest, size, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.room.reserved -= s.room.cost(size)
	delete(s.writing, name)
	close(done)
	if err != nil {
		s.metrics.writes.WithLabelValues(string(protocol.CodeOf(err))).Inc()
		return err
	}
	s.room.add(name, size)
	s.metrics.writes.WithLabelValues("ok").Inc()
	return nil
}

// begin makes this the only write of the digest and reserves its room. It
// returns nil without an error if the blob is there.
func (s *Store) begin(ctx context.Context, op, digest string, size int64) (chan struct{}, error) {
	name := digest[len(digestPrefix):]
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if e := s.room.blobs[name]; e != nil {
			s.room.recent.MoveToFront(e.at)
			return nil, nil
		}
		other := s.writing[name]
		if other == nil {
			break
		}
		s.mu.Unlock()
		select {
		case <-other: // stored, or failed and it is our turn
		case <-ctx.Done():
		}
		s.mu.Lock()
		if ctx.Err() != nil {
			return nil, readError(op, digest, ctx.Err())
		}
	}
	if err := s.makeRoom(op, digest, s.room.cost(size)); err != nil {
		s.metrics.writes.WithLabelValues(string(protocol.CodeOf(err))).Inc()
		return nil, err
	}
	s.room.reserved += s.room.cost(size)
	done := make(chan struct{})
	s.writing[name] = done
	return done, nil
}

// store is the way of the bytes to the disk.
func (s *Store) store(ctx context.Context, op, digest string, size int64, r io.Reader) (err error) {
	tmp, err := os.CreateTemp(s.cfg.Dir, tmpPrefix)
	if err != nil {
		return s.diskError(op, digest, size, err)
	}
	rest := tmp.Name() // what is to be removed on failure
	defer func() {
		if err == nil {
			return
		}
		if rmErr := os.Remove(rest); rmErr != nil {
			err = errors.Join(err, rmErr)
		}
	}()
	err = s.fill(ctx, op, digest, size, tmp, r)
	if closeErr := tmp.Close(); err == nil && closeErr != nil {
		err = s.diskError(op, digest, size, closeErr)
	}
	if err != nil {
		return err
	}
	s.cfg.Crash.At(PointSynced)
	final := s.path(digest[len(digestPrefix):])
	if err := os.Rename(tmp.Name(), final); err != nil {
		return s.diskError(op, digest, size, err)
	}
	rest = final
	s.cfg.Crash.At(PointRenamed)
	if err := s.dir.Sync(); err != nil {
		return s.diskError(op, digest, size, err)
	}
	return nil
}

// fill copies, checks and fsyncs.
func (s *Store) fill(ctx context.Context, op, digest string, size int64, tmp *os.File, r io.Reader) error {
	h := sha256.New()
	src := &source{r: reader{ctx, io.LimitReader(r, size+1)}} // one more shows that it is too long
	n, err := io.Copy(io.MultiWriter(&steady{file: tmp}, h), src)
	switch {
	case src.err != nil:
		return readError(op, digest, src.err)
	case err != nil:
		return s.diskError(op, digest, size, err)
	case n > size:
		return protocol.Errorf(protocol.CodeInvalid, op, "%s is longer than its %d bytes", digest, size)
	}
	got := digestPrefix + hex.EncodeToString(h.Sum(nil))
	if n < size {
		return protocol.Errorf(protocol.CodeInvalid, op, "%s ended after %d of %d bytes, which hash to %s", digest, n, size, got)
	}
	if got != digest {
		return protocol.Errorf(protocol.CodeInvalid, op, "the content of %s hashes to %s", digest, got).
			WithHint("the source holds something else under this digest; check the mirror")
	}
	if err := tmp.Chmod(0o400); err != nil {
		return s.diskError(op, digest, size, err)
	}
	// The kernel's own stamps are coarser than two writes are apart.
	now := time.Now()
	if err := os.Chtimes(tmp.Name(), now, now); err != nil {
		return s.diskError(op, digest, size, err)
	}
	if err := tmp.Sync(); err != nil {
		return s.diskError(op, digest, size, err)
	}
	return nil
}

func (s *Store) diskError(op, digest string, size int64, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		s.mu.Lock()
		defer s.mu.Unlock()
		free, freeErr := s.free(op)
		if freeErr != nil {
			return freeErr
		}
		return insufficient(op, digest, size, free+size, s.cfg.Dir) // its own reservation is not in the way
	}
	return protocol.Errorf(protocol.CodeInternal, op, "%s: %w", digest, err)
}

// syncEvery is how much of a blob may wait for the disk.
const syncEvery = 8 << 20

// steady writes a file to disk as it comes. What the kernel keeps back it writes all at
// once, and until then every other fsync on the same disk waits: a hold must be on it
// before anything is said about it.
type steady struct {
	file    *os.File
	waiting int
}

func (s *steady) Write(b []byte) (int, error) {
	n, err := s.file.Write(b)
	if s.waiting += n; err == nil && s.waiting >= syncEvery {
		s.waiting = 0
		err = s.file.Sync()
	}
	return n, err
}
