package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io/fs"
	"os"
	"time"

	"rackboot/protocol"
)

// A Draft asks for as much room again as has come, between these, in bytes: small contents
// take none from others that are written at once.
const (
	firstStep = 64 << 10
	makeStep  = 64 << 20
)

// newContent is what errors call a content whose digest is not known yet.
const newContent = "new content"

// Draft is a content that is being written, whose digest is known only when it is whole.
// What has come of it can be read meanwhile. Its owner ends it with Keep or Drop, and
// then closes it. ReadAt is safe for concurrent use with everything but Close; the
// others are called by one goroutine.
type Draft struct {
	s        *Store
	file     *os.File
	out      *steady
	hash     hash.Hash
	limit    int64
	size     int64
	reserved int64
	ended    bool
}

// Draft begins a content of at most limit bytes. size is how long it gets as far as that
// is known, else 0: there is room for that much, or it is refused. Errors: unavailable
// (insufficient storage), internal.
func (s *Store) Draft(size, limit int64) (*Draft, error) {
	const op = "write blob"
	d := &Draft{s: s, hash: sha256.New(), limit: limit}
	if err := d.reserve(s.room.cost(size)); err != nil {
		return nil, err
	}
	tmp, err := os.CreateTemp(s.cfg.Dir, tmpPrefix)
	if err != nil {
		d.unreserve()
		return nil, s.diskError(op, newContent, 0, err)
	}
	d.file, d.out = tmp, &steady{file: tmp}
	return d, nil
}

// Write takes what comes next. After an error nothing of it is there. Errors: invalid
// (ErrLimit), unavailable (insufficient storage), internal.
func (d *Draft) Write(b []byte) (int, error) {
	const op = "write blob"
	end := d.size + int64(len(b))
	if end > d.limit {
		return 0, protocol.Errorf(protocol.CodeInvalid, op, "%w: it has more than %d bytes", ErrLimit, d.limit)
	}
	if err := d.grow(d.s.room.cost(end) - d.reserved); err != nil {
		return 0, err
	}
	if _, err := d.out.Write(b); err != nil {
		return 0, d.s.diskError(op, newContent, 0, err)
	}
	d.hash.Write(b)
	d.size = end
	return len(b), nil
}

// grow takes more room if so many bytes lack.
func (d *Draft) grow(lacking int64) error {
	if lacking <= 0 {
		return nil
	}
	step := max(lacking, min(max(firstStep, d.size), makeStep, d.limit-d.reserved))
	if d.reserve(step) == nil {
		return nil
	}
	return d.reserve(lacking)
}

func (d *Draft) reserve(room int64) error {
	if room == 0 {
		return nil
	}
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	if err := d.s.makeRoom("write blob", newContent, room); err != nil {
		return err
	}
	d.s.room.reserved += room
	d.reserved += room
	return nil
}

func (d *Draft) unreserve() {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.s.room.reserved -= d.reserved
	d.reserved = 0
}

// ReadAt reads what has come.
func (d *Draft) ReadAt(b []byte, off int64) (int, error) { return d.file.ReadAt(b, off) }

// Keep makes it a blob under the digest that it has, on disk when Keep returns, and pins it
// once: the caller calls Unpin. It takes the place of one that is there: what was hashed
// just now is known to be good. After an error nothing of it remains. Errors:
// unavailable (insufficient storage), internal.
func (d *Draft) Keep() (digest string, size int64, err error) {
	const op = "write blob"
	s := d.s
	now := time.Now() // the kernel's own stamps are coarser than two writes are apart
	if err := errors.Join(d.file.Chmod(0o400), os.Chtimes(d.file.Name(), now, now), d.file.Sync()); err != nil {
		return "", 0, errors.Join(s.diskError(op, newContent, 0, err), d.Drop())
	}
	name := hex.EncodeToString(d.hash.Sum(nil))
	s.cfg.Crash.At(PointSynced)
	if err := d.place(name); err != nil {
		return "", 0, errors.Join(protocol.Errorf(protocol.CodeInternal, op, "%w", err), d.Drop())
	}
	return digestPrefix + name, d.size, nil
}

// place gives the file its name, and counts it. The disk is waited for without the lock: who
// opens other blobs does not wait. The pin comes first, so that nobody makes room by a blob
// of that name meanwhile.
func (d *Draft) place(name string) error {
	s := d.s
	s.mu.Lock()
	s.room.pins[name]++
	s.mu.Unlock()
	err := os.Rename(d.file.Name(), s.path(name))
	if err == nil {
		d.ended = true
		s.cfg.Crash.At(PointRenamed)
		err = s.dir.Sync()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.room.unpin(name)
	}
	if !d.ended {
		return err
	}
	s.room.reserved -= d.reserved
	d.reserved = 0
	switch there := s.room.blobs[name] != nil; {
	case err == nil:
		s.room.add(name, d.size)
		s.room.blobs[name].hashed = true
	case !there: // what was there before has the same content, and stays
		err = errors.Join(err, s.remove(name))
	}
	return err
}

// Drop removes what was written, unless it was kept. What is there can be read until
// Close. It is idempotent.
func (d *Draft) Drop() error {
	if d.ended {
		return nil
	}
	d.ended = true
	d.unreserve()
	if err := os.Remove(d.file.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return protocol.Errorf(protocol.CodeInternal, "write blob", "%w", err)
	}
	return nil
}

// Close closes the file.
func (d *Draft) Close() error { return d.file.Close() }
