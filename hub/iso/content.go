package iso

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/blob"
)

// idleAfter is how long a content stays open to which nothing comes.
const idleAfter = time.Minute

// content is one content that something is done with. Uploads under several names that
// have the same digest share it.
type content struct {
	digest string
	busy   bool       // guarded by contents.mu; who has set it has the rest
	part   *blob.Part // nil: not open
	used   time.Time
}

// contents are those that something is done with, or was lately.
type contents struct {
	blobs *blob.Store
	store *store.Store
	log   *slog.Logger
	clock state.Clock

	mu       sync.Mutex
	byDigest map[string]*content
}

// take makes the caller the only one that does something with a content. The code is
// unavailable if somebody else does.
func (cs *contents) take(op, digest string) (*content, error) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c := cs.byDigest[digest]
	if c == nil {
		c = &content{digest: digest}
		cs.byDigest[digest] = c
	}
	if c.busy {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "somebody else sends this content just now, or it is being checked").
			WithHint("try again in some seconds, and ask for the offset before")
	}
	c.busy = true
	return c, nil
}

// give lets others have it.
func (cs *contents) give(c *content) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c.busy, c.used = false, cs.clock()
	if c.part == nil {
		delete(cs.byDigest, c.digest)
	}
}

// kept is what the book, or the content that was uploaded, has of a digest of an upload;
// false while it is not complete.
func (cs *contents) kept(digest string) (served string, size int64, ok bool) {
	for _, f := range cs.store.ISOs.List() {
		if f.Uploaded == digest && cs.blobs.Has(f.Digest) {
			return f.Digest, f.Size, true
		}
	}
	if !cs.blobs.Has(digest) {
		return "", 0, false
	}
	f, size, err := cs.blobs.Open(digest)
	if err != nil {
		return "", 0, false
	}
	_ = f.Close() // nothing was read
	return digest, size, true
}

// named says whether a name of the book has the content, or a package of agents.
func (cs *contents) named(digest string) bool {
	for _, f := range cs.store.ISOs.List() {
		if f.Digest == digest {
			return true
		}
	}
	return Programs(cs.store.AgentPackages)[digest]
}

// open opens the part of a content, or reads how far it is; nil without an error if it
// is complete.
func (cs *contents) open(ctx context.Context, c *content, size int64) (*blob.Part, error) {
	if c.part != nil {
		return c.part, nil
	}
	if _, _, ok := cs.kept(c.digest); ok {
		return nil, nil
	}
	part, err := cs.blobs.Part(ctx, c.digest, size)
	if err != nil {
		return nil, err
	}
	c.part = part
	return part, nil
}

// rest closes the contents to which nothing comes.
func (cs *contents) rest() {
	cs.mu.Lock()
	var idle []*content
	for _, c := range cs.byDigest {
		if !c.busy && cs.clock().Sub(c.used) >= idleAfter {
			c.busy = true
			idle = append(idle, c)
		}
	}
	cs.mu.Unlock()
	for _, c := range idle {
		cs.shut(c)
		cs.give(c)
	}
}

// shut closes the part; the caller has the content.
func (cs *contents) shut(c *content) {
	if c.part == nil {
		return
	}
	if err := c.part.Close(); err != nil {
		cs.log.Error("an upload was not kept as far as it was", "digest", c.digest, "err", err)
	}
	c.part = nil
}

// close keeps what is there of each.
func (cs *contents) close() (errs []error) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, c := range cs.byDigest {
		if c.part != nil {
			errs = append(errs, c.part.Close())
		}
	}
	return errs
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
