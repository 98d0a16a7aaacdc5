package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"time"

	"rackboot/protocol"
)

// has is a copy of what is known of a URL.
func (s *store) has(key string) (entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[key]
	if e == nil {
		return entry{}, false
	}
	return *e, true
}

// open opens a content; done is called when it is not read any more. One that is gone or
// has another size is removed with all that names it. Errors: not_found, internal.
func (s *store) open(hash string, now time.Time) (f *os.File, done func(), err error) {
	const op = "open cached file"
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.contents[hash]
	if c == nil {
		return nil, nil, lost(op, s.dir)
	}
	f, err = os.Open(s.path(prefixContent + hash))
	if err == nil {
		var info os.FileInfo
		if info, err = f.Stat(); err == nil && info.Size() == c.size {
			c.open++
			s.use(c, now)
			return f, func() { s.release(c) }, nil
		}
		err = errors.Join(err, f.Close())
	}
	s.logger.Warn("file of the mirror's cache is damaged, removed", "path", s.path(prefixContent+hash), "err", err)
	s.remove(c)
	return nil, nil, lost(op, s.dir)
}

func lost(op, dir string) *protocol.Error {
	return protocol.Errorf(protocol.CodeNotFound, op, "the file is not in the cache %s any more", dir).
		WithHint("it is fetched again when the environment is built again; look whether somebody removes files there, and at the disk")
}

// hold keeps a content from being removed until done is called.
func (s *store) hold(hash string) (done func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.contents[hash]
	if c == nil {
		return nil, false
	}
	c.open++
	return func() { s.release(c) }, true
}

func (s *store) release(c *content) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.open--
	s.collect(c)
}

// renew writes what was heard of an entry, if it still describes the same content.
func (s *store) renew(key string, e entry) error {
	temp, err := s.stage(e)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.entries[key]; old == nil || old.SHA256 != e.SHA256 {
		return os.Remove(temp)
	}
	return s.enter(temp, key, e)
}

// drop removes an entry.
func (s *store) drop(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(key)
}

// commit makes a temporary file, which is fsynced, the content of an entry. A key that
// is empty enters none. The room that was reserved for it is given back, whatever happens.
// The content is held until done is called.
func (s *store) commit(temp, key string, e entry, room int64, now time.Time) (done func(), err error) {
	var staged string
	if key != "" {
		if staged, err = s.stage(e); err != nil {
			s.unreserve(room)
			return nil, errors.Join(err, os.Remove(temp))
		}
	}
	c, err := s.commitStaged(temp, staged, key, e, room, now)
	if err != nil {
		return nil, err
	}
	if err := s.settle(); err != nil {
		s.release(c)
		return nil, err
	}
	return func() { s.release(c) }, nil
}

func (s *store) commitStaged(temp, staged, key string, e entry, room int64, now time.Time) (*content, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved -= room // from here on it counts as used
	// Also where the content is there already: what came is known to be good.
	if err := s.place(temp, prefixContent+e.SHA256); err != nil {
		if staged != "" {
			err = errors.Join(err, os.Remove(staged))
		}
		return nil, err
	}
	c := s.contents[e.SHA256]
	if c == nil {
		c = s.add(e.SHA256, e.Size)
	}
	c.verified = true // it was hashed as it came
	s.use(c, now)
	c.open++
	if key != "" {
		if err := s.enter(staged, key, e); err != nil {
			c.open--
			s.collect(c)
			return nil, err
		}
	}
	return c, nil
}

// verify reads a content once in the life of the process. A damaged one is removed with
// all that names it. Errors: invalid (damaged), not_found, timeout, internal.
func (s *store) verify(ctx context.Context, hash string, now time.Time) error {
	const op = "verify cached file"
	f, done, err := s.open(hash, now)
	if err != nil {
		return err
	}
	defer done()
	defer f.Close()
	s.mu.Lock()
	c := s.contents[hash]
	verified := c != nil && c.verified
	s.mu.Unlock()
	if verified {
		return nil
	}
	h := sha256.New()
	buf := make([]byte, 256<<10)
	for {
		if err := ctx.Err(); err != nil {
			return protocol.Errorf(protocol.CodeTimeout, op, "%w", err)
		}
		n, err := f.Read(buf)
		h.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return protocol.Errorf(protocol.CodeInternal, op, "%w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch c := s.contents[hash]; {
	case c == nil:
		return lost(op, s.dir)
	case hex.EncodeToString(h.Sum(nil)) == hash:
		c.verified = true
		return nil
	default:
		s.remove(c)
	}
	return protocol.Errorf(protocol.CodeInvalid, op, "a file in the cache %s was damaged; it was removed", s.dir).
		WithHint("check the disk; the file is fetched again")
}
