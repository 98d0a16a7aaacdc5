package store

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/state"
)

// ContentState is what the servers of the store have of a content.
type ContentState string

// The states.
const (
	ContentComing  ContentState = "coming"  // somebody puts it there, or did; what is there is good
	ContentWhole   ContentState = "whole"   // all of it is there
	ContentDamaged ContentState = "damaged" // somebody read it, and it is not all there as it was
	ContentGoing   ContentState = "going"   // it is being removed
)

// Content says what the servers of the store have of a content of uploaded files. A hub that is alone has none.
type Content struct {
	Digest string       `json:"-"`
	Size   int64        `json:"size"`
	State  ContentState `json:"state"`
	// ID is of one life: a content that is removed and comes again has another one.
	ID string `json:"id"`
	// Bucket names the stream that has it. In one that was made anew there is nothing of it.
	Bucket string `json:"bucket"`
	// Touched is when somebody said last that it is needed. It is for people: whoever judges compares revisions.
	Touched  time.Time `json:"touched"`
	Revision uint64    `json:"-"` // for compare-and-set; 0 creates
}

// Contents is the book of what the servers have.
type Contents struct{ core *core }

func contentKey(digest string) string {
	return contentBucket + "." + strings.TrimPrefix(digest, "sha256:")
}

// Get is the content of a digest as this hub has heard of it; not_found without one.
func (cs *Contents) Get(digest string) (Content, error) {
	e, ok := cs.core.mirror.get(contentKey(digest))
	if !ok {
		return Content{Digest: digest}, protocol.Errorf(protocol.CodeNotFound, "get content", "the servers have nothing of %.80q", digest)
	}
	return contentOf(e.Entry)
}

// Newest reads it from the store itself; one without a revision is not there. The codes are internal, unavailable and
// timeout.
func (cs *Contents) Newest(ctx context.Context, digest string) (Content, error) {
	e, err := cs.core.kv.Get(ctx, contentKey(digest))
	switch {
	case errors.Is(err, state.ErrNotFound):
		return Content{Digest: digest}, nil
	case err != nil:
		return Content{}, stateError("read a content", err)
	}
	return contentOf(e)
}

// List lists them in order of their digests. One that cannot be read is left out and logged.
func (cs *Contents) List() (out []Content) {
	for _, e := range cs.core.mirror.list(contentBucket) {
		c, err := contentOf(e.Entry)
		if err != nil {
			cs.core.logger.Error("a content cannot be read", "key", e.Key, "err", err)
			continue
		}
		out = append(out, c)
	}
	return out
}

// Put writes one, compare-and-set on its revision, which it updates. The codes are invalid, conflict, unavailable and
// timeout.
func (cs *Contents) Put(ctx context.Context, c *Content) error {
	const op = "put content"
	o, err := c.write(op)
	if err != nil {
		return err
	}
	revision, err := cs.core.put(ctx, o.Key, o.Value, c.Revision)
	if err != nil {
		return stateError(op, err)
	}
	c.Revision = revision
	return nil
}

// Remove removes one at its revision. The codes are conflict, unavailable and timeout.
func (cs *Contents) Remove(ctx context.Context, c Content) error {
	if err := cs.core.remove(ctx, contentKey(c.Digest), c.Revision); err != nil {
		return stateError("remove content", err)
	}
	return nil
}

func (c Content) write(op string) (state.Op, error) {
	if !protocol.ValidDigest(c.Digest) {
		return state.Op{}, protocol.Errorf(protocol.CodeInvalid, op, "%.100q is not sha256: and 64 lower-case hex digits", c.Digest)
	}
	value, err := json.Marshal(c)
	if err != nil {
		return state.Op{}, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	return write(contentKey(c.Digest), value, c.Revision), nil
}

func contentOf(e state.Entry) (Content, error) {
	_, name := split(e.Key)
	c := Content{}
	if err := json.Unmarshal(e.Value, &c); err != nil {
		return c, protocol.Errorf(protocol.CodeInternal, "read a content", "%q: %w", e.Key, err).
			WithHint("a newer hub may have written it; start that version, or restore the store")
	}
	c.Digest, c.Revision = "sha256:"+name, e.Revision
	return c, nil
}
