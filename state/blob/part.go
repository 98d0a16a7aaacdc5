package blob

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"rackboot/protocol"
)

const (
	partPrefix = "part-"
	sumSuffix  = ".sum"
	// checkEvery is how much of a part may come between two marks, in bytes: what is lost
	// at most when the process dies.
	checkEvery = 64 << 20
	partBuffer = 256 << 10
)

// The crash points of a Part.
const (
	PointPartSynced  = "blob/part/synced"  // what came is on disk, its mark is not
	PointPartMarked  = "blob/part/marked"  // the mark is on disk
	PointPartWhole   = "blob/part/whole"   // all of it is on disk and fits, under its old name
	PointPartRenamed = "blob/part/renamed" // the blob has its name, perhaps not on disk
)

// ErrContent is in the chain of an error when what came is not what its digest says.
var ErrContent = errors.New("it is something else")

// ErrWriting is in the chain of an error of Part when somebody else writes the blob.
var ErrWriting = errors.New("somebody else is writing it")

// Part is a blob that comes in pieces, in order. Pieces may come after a break, and after
// a restart: what is there is read again and compared with its mark before it is gone on
// with. Its methods are safe for concurrent use, and wait for one another.
type Part struct {
	s            *Store
	digest, name string
	size         int64

	mu     sync.Mutex
	file   *os.File // nil after Finish, Drop or Close
	out    *steady
	hash   hash.Hash
	offset int64
	marked int64 // offset of the mark on disk
	done   chan struct{}
}

// Part begins a blob of size bytes that comes in pieces, or goes on with what is there of
// it. Room for the rest of it is known to suffice. It is nil without an error if the blob
// is there. While it is open no other write of the blob is; its owner ends it with Finish,
// Drop or Close. Errors: invalid, unavailable (insufficient storage, or ErrWriting),
// timeout (ctx ended), internal.
func (s *Store) Part(ctx context.Context, digest string, size int64) (*Part, error) {
	const op = "write blob"
	name, err := parseDigest(op, digest)
	if err != nil {
		return nil, err
	}
	if size < 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%s: size %d", digest, size)
	}
	p := &Part{s: s, digest: digest, name: name, size: size, hash: sha256.New(), done: make(chan struct{})}
	if there, err := p.take(op); there || err != nil {
		return nil, err
	}
	if err := p.open(ctx, op); err != nil {
		p.release()
		return nil, err
	}
	return p, nil
}

// take makes this the only write of the digest and reserves room for the rest.
func (p *Part) take(op string) (there bool, err error) {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.room.blobs[p.name] != nil:
		return true, nil
	case s.writing[p.name] != nil:
		return false, protocol.Errorf(protocol.CodeUnavailable, op, "%s: %w", p.digest, ErrWriting).WithHint("try again when that has ended")
	}
	if err := s.makeRoom(op, p.digest, max(0, p.size-s.room.parts[p.name])); err != nil {
		s.metrics.writes.WithLabelValues(string(protocol.CodeOf(err))).Inc()
		return false, err
	}
	s.room.growing[p.name] = p.size
	s.writing[p.name] = p.done
	return false, nil
}

// release lets others write the digest. What is on disk of it stays counted.
func (p *Part) release() {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	delete(p.s.room.growing, p.name)
	delete(p.s.writing, p.name)
	close(p.done)
}

// open opens the file and reads what is good of it.
func (p *Part) open(ctx context.Context, op string) (err error) {
	path := p.s.path(partPrefix + p.name)
	if err := os.Chmod(path, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a Finish that was cut off
		return p.s.diskError(op, p.digest, 0, err)
	}
	if p.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return p.s.diskError(op, p.digest, 0, err)
	}
	p.out = &steady{file: p.file}
	if p.offset, err = p.resume(ctx); err == nil {
		if err = p.file.Truncate(p.offset); err == nil {
			_, err = p.file.Seek(p.offset, io.SeekStart)
		}
	}
	if err == nil {
		p.s.count(p.name, p.offset)
		p.marked = p.offset
		return nil
	}
	if ctx.Err() != nil {
		err = readError(op, p.digest, ctx.Err())
	} else {
		err = p.s.diskError(op, p.digest, 0, err)
	}
	err = errors.Join(err, p.file.Close())
	p.file = nil
	return err
}

// resume reads what is there up to its mark; 0 if it does not fit, so that it is written
// anew.
func (p *Part) resume(ctx context.Context) (int64, error) {
	at, sum, ok := p.s.readMark(p.name)
	info, err := p.file.Stat()
	if err != nil {
		return 0, err
	}
	if !ok || at > p.size || at > info.Size() {
		if info.Size() > 0 {
			p.s.cfg.Logger.Info("part of a blob has no mark that fits and is written anew", "digest", p.digest, "bytes", info.Size())
		}
		return 0, nil
	}
	if _, err := io.Copy(p.hash, reader{ctx, io.NewSectionReader(p.file, 0, at)}); err != nil {
		p.hash.Reset()
		return at, err // nothing is lost: it is read again
	}
	if hex.EncodeToString(p.hash.Sum(nil)) != sum {
		p.s.cfg.Logger.Warn("part of a blob is damaged and is written anew; check the disk", "digest", p.digest, "bytes", at)
		p.s.metrics.damaged.Inc()
		p.hash.Reset()
		return 0, nil
	}
	return at, nil
}

// Offset is how many bytes are there.
func (p *Part) Offset() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.offset
}

// Sum is what the bytes that are there hash to: sha256:<hex>.
func (p *Part) Sum() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return digestPrefix + hex.EncodeToString(p.hash.Sum(nil))
}

// Sync puts on disk what has come: it is there after a crash. Errors: unavailable
// (insufficient storage), internal.
func (p *Part) Sync() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return nil
	}
	if err := p.mark(); err != nil {
		return p.s.diskError("write blob", p.digest, 0, err)
	}
	return nil
}

// Append writes what comes next, until r ends. What came before an error stays. Errors:
// invalid (longer than the blob), conflict (the Part has ended), unavailable (insufficient
// storage; r failed), timeout (ctx ended), internal.
func (p *Part) Append(ctx context.Context, r io.Reader) (n int64, err error) {
	const op = "write blob"
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return 0, ended(op, p.digest)
	}
	src := &source{r: reader{ctx, r}}
	buf := make([]byte, partBuffer)
	for {
		m, err := src.Read(buf[:min(int64(len(buf)), p.size-p.offset+1)])
		if int64(m) > p.size-p.offset {
			return n, protocol.Errorf(protocol.CodeInvalid, op, "%s is longer than its %d bytes", p.digest, p.size)
		}
		if m > 0 {
			if err := p.write(buf[:m]); err != nil {
				return n, p.s.diskError(op, p.digest, 0, err)
			}
			n += int64(m)
		}
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, readError(op, p.digest, err)
		}
	}
}

// write leaves file and hash as they were where it fails.
func (p *Part) write(b []byte) error {
	if _, err := p.out.Write(b); err != nil {
		_, seekErr := p.file.Seek(p.offset, io.SeekStart)
		return errors.Join(err, p.file.Truncate(p.offset), seekErr)
	}
	p.hash.Write(b)
	p.offset += int64(len(b))
	p.s.count(p.name, p.offset)
	if p.offset-p.marked < checkEvery {
		return nil
	}
	return p.mark()
}

// mark puts on disk how far it is, and what that hashes to.
func (p *Part) mark() error {
	if p.offset == p.marked {
		return nil
	}
	if err := p.file.Sync(); err != nil {
		return err
	}
	p.s.cfg.Crash.At(PointPartSynced)
	if err := p.s.writeMark(p.name, p.offset, hex.EncodeToString(p.hash.Sum(nil))); err != nil {
		return err
	}
	p.marked = p.offset
	p.s.cfg.Crash.At(PointPartMarked)
	return nil
}

// Finish makes it the blob. One that does not hash to its digest is removed as a whole;
// one that is not complete stays as it is. Errors: invalid, conflict (the Part has ended),
// unavailable (insufficient storage), internal.
func (p *Part) Finish() error {
	const op = "write blob"
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return ended(op, p.digest)
	}
	got := digestPrefix + hex.EncodeToString(p.hash.Sum(nil))
	if p.offset < p.size {
		return protocol.Errorf(protocol.CodeInvalid, op, "%s has %d of %d bytes", p.digest, p.offset, p.size).WithHint("send the rest")
	}
	if got != p.digest {
		p.s.metrics.writes.WithLabelValues(string(protocol.CodeInvalid)).Inc()
		return errors.Join(protocol.Errorf(protocol.CodeInvalid, op, "the content of %s hashes to %s: %w", p.digest, got, ErrContent).
			WithHint("the source holds something else under this digest; what was written is removed"), p.drop())
	}
	if err := p.finish(); err != nil {
		p.s.metrics.writes.WithLabelValues(string(protocol.CodeInternal)).Inc()
		return p.s.diskError(op, p.digest, 0, err)
	}
	p.file = nil
	p.s.mu.Lock()
	p.s.room.forgetPart(p.name)
	p.s.room.add(p.name, p.size)
	p.s.mu.Unlock()
	p.s.metrics.writes.WithLabelValues("ok").Inc()
	p.release()
	return nil
}

// finish gives the file its name. Where that fails the Part stays open as it was.
func (p *Part) finish() error {
	now := time.Now() // the kernel's own stamps are coarser than two writes are apart
	if err := errors.Join(p.mark(), p.file.Chmod(0o400), os.Chtimes(p.file.Name(), now, now), p.file.Sync()); err != nil {
		return err
	}
	p.s.cfg.Crash.At(PointPartWhole)
	part, final := p.s.path(partPrefix+p.name), p.s.path(p.name)
	if err := os.Rename(part, final); err != nil {
		return err
	}
	p.s.cfg.Crash.At(PointPartRenamed)
	if err := p.s.dir.Sync(); err != nil {
		return errors.Join(err, os.Rename(final, part))
	}
	// What is on disk is whole from here on.
	for _, err := range []error{p.file.Close(), p.s.removeMark(p.name)} {
		if err != nil {
			p.s.cfg.Logger.Warn("a blob is whole; what was left of its part was not removed", "digest", p.digest, "err", err)
		}
	}
	return nil
}

// Drop removes what is there of it.
func (p *Part) Drop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return nil
	}
	if err := p.drop(); err != nil {
		return protocol.Errorf(protocol.CodeInternal, "remove part", "%s: %w", p.digest, err)
	}
	return nil
}

func (p *Part) drop() error {
	err := p.file.Close()
	p.file = nil
	err = errors.Join(err, p.s.removePart(p.name))
	p.release()
	return err
}

// Close keeps what is there for another Part of the blob. It is idempotent.
func (p *Part) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return nil
	}
	err := errors.Join(p.mark(), p.file.Close())
	p.file = nil
	p.release()
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, "keep part", "%s: %w", p.digest, err)
	}
	return nil
}

func ended(op, digest string) error {
	return protocol.Errorf(protocol.CodeConflict, op, "the part of %s has ended", digest)
}

// PartState is what is there of a blob that is not complete.
type PartState struct {
	Digest string
	Bytes  int64
}

// Parts lists the blobs that are not complete, in order of digest.
func (s *Store) Parts() []PartState {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []PartState
	for name, n := range s.room.parts {
		out = append(out, PartState{digestPrefix + name, n})
	}
	slices.SortFunc(out, func(a, b PartState) int { return cmp.Compare(a.Digest, b.Digest) })
	return out
}

// DropPart removes what is there of a blob that is not complete; none is no error. Errors:
// invalid, unavailable (ErrWriting), internal.
func (s *Store) DropPart(digest string) error {
	const op = "remove part"
	name, err := parseDigest(op, digest)
	if err != nil {
		return err
	}
	s.mu.Lock()
	if s.writing[name] != nil {
		s.mu.Unlock()
		return protocol.Errorf(protocol.CodeUnavailable, op, "%s: %w", digest, ErrWriting).WithHint("try again when that has ended")
	}
	s.mu.Unlock()
	if err := s.removePart(name); err != nil {
		return protocol.Errorf(protocol.CodeInternal, op, "%s: %w", digest, err)
	}
	return nil
}

func (s *Store) removePart(name string) error {
	err := s.removeMark(name) // first: a part without a mark is nothing
	if rmErr := os.Remove(s.path(partPrefix + name)); rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
		return errors.Join(err, rmErr)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.room.forgetPart(name)
	return err
}

// count notes how many bytes of a part are on disk.
func (s *Store) count(name string, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.room.parted += n - s.room.parts[name]
	s.room.parts[name] = n
}

// partName is the name of the blob that a file is a part of, or its mark.
func partName(file string) (name string, mark, ok bool) {
	name, ok = strings.CutPrefix(file, partPrefix)
	name, mark = strings.CutSuffix(name, sumSuffix)
	return name, mark, ok && isName(name)
}
