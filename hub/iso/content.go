package iso

import (
	"context"
	"io"
	"time"

	"rackboot/protocol"
	"rackboot/state/blob"
)

// idleAfter is how long a content stays open to which nothing comes.
const idleAfter = time.Minute

// content is one content that something is done with. Uploads under several names that
// have the same digest share it.
type content struct {
	digest string
	busy   bool       // guarded by Shelf.mu; who has set it has the rest
	part   *blob.Part // nil: not open
	used   time.Time
}

// take makes the caller the only one that does something with a content. The code is
// unavailable if somebody else does.
func (s *Shelf) take(op, digest string) (*content, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.contents[digest]
	if c == nil {
		c = &content{digest: digest}
		s.contents[digest] = c
	}
	if c.busy {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "somebody else sends this content just now, or it is being checked").
			WithHint("try again in some seconds, and ask for the offset before")
	}
	c.busy = true
	return c, nil
}

// give lets others have it.
func (s *Shelf) give(c *content) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.busy, c.used = false, s.cfg.Clock()
	if c.part == nil {
		delete(s.contents, c.digest)
	}
}

// kept is what the book, or the content that was uploaded, has of a digest of an upload;
// false while it is not complete.
func (s *Shelf) kept(digest string) (served string, size int64, ok bool) {
	for _, f := range s.cfg.Store.ISOs.List() {
		if f.Uploaded == digest && s.blobs.Has(f.Digest) {
			return f.Digest, f.Size, true
		}
	}
	if !s.blobs.Has(digest) {
		return "", 0, false
	}
	f, size, err := s.blobs.Open(digest)
	if err != nil {
		return "", 0, false
	}
	_ = f.Close() // nothing was read
	return digest, size, true
}

// open opens the part of a content, or reads how far it is; nil without an error if it
// is complete.
func (s *Shelf) open(ctx context.Context, c *content, size int64) (*blob.Part, error) {
	if c.part != nil {
		return c.part, nil
	}
	if _, _, ok := s.kept(c.digest); ok {
		return nil, nil
	}
	part, err := s.blobs.Part(ctx, c.digest, size)
	if err != nil {
		return nil, err
	}
	c.part = part
	return part, nil
}

// rest closes the contents to which nothing comes.
func (s *Shelf) rest() {
	s.mu.Lock()
	var idle []*content
	for _, c := range s.contents {
		if !c.busy && s.cfg.Clock().Sub(c.used) >= idleAfter {
			c.busy = true
			idle = append(idle, c)
		}
	}
	s.mu.Unlock()
	for _, c := range idle {
		s.shut(c)
		s.give(c)
	}
}

// shut closes the part; the caller has the content.
func (s *Shelf) shut(c *content) {
	if c.part == nil {
		return
	}
	if err := c.part.Close(); err != nil {
		s.log.Error("an upload was not kept as far as it was", "digest", c.digest, "err", err)
	}
	c.part = nil
}

// counted counts what is read.
type counted struct {
	r io.Reader
	n func(int)
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n(n)
	return n, err
}
