package contents

import (
	"context"
	"maps"
	"slices"

	"rackboot/hub/store"
	"rackboot/protocol"
)

// remove removes from the servers what nothing names.
func (r *Room) remove(ctx context.Context, records []store.Content, named map[string]bool) {
	there := map[string]bool{}
	for _, c := range records {
		there[c.Digest] = true
		var err error
		switch removalOf(c.State, named[c.Digest], r.unneeded(c, named[c.Digest])) {
		case removeNot:
		case removeBegin:
			err = r.doom(ctx, c)
		case removeFinish:
			err = r.bury(ctx, c)
		}
		if err != nil && ctx.Err() == nil {
			r.cfg.Logger.Warn("a content that nobody needs is still on the servers", "digest", c.Digest, "err", err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.idle, func(digest string, _ sighting) bool { return !there[digest] })
	maps.DeleteFunc(r.seen, func(digest string, _ sighting) bool { return !there[digest] })
}

// unneeded reports whether nothing has named a content, and nobody has touched its record, for quietFor.
func (r *Room) unneeded(c store.Content, named bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, s := r.cfg.Clock(), r.idle[c.Digest]
	if named || s.revision != c.Revision || s.since.IsZero() {
		r.idle[c.Digest] = sighting{c.Revision, now}
		return false
	}
	return now.Sub(s.since) >= quietFor
}

// doom writes that a content goes, at the revision by which that was judged, and removes it.
func (r *Room) doom(ctx context.Context, c store.Content) error {
	c.State = store.ContentGoing
	if err := r.put(r.cfg.Under(ctx), &c); err != nil {
		if protocol.CodeOf(err) == protocol.CodeConflict {
			return nil // somebody needs it
		}
		return err
	}
	r.cfg.Crash.At("hub.content.doomed")
	return r.bury(ctx, c)
}

// bury removes the pieces of a content that goes, and then its record.
func (r *Room) bury(ctx context.Context, c store.Content) error {
	if err := r.cfg.Bucket.Remove(ctx, c.Digest); err != nil {
		return err
	}
	r.cfg.Crash.At("hub.content.removed")
	if err := r.cfg.Store.Contents.Remove(r.cfg.Under(ctx), c); err != nil {
		if protocol.CodeOf(err) == protocol.CodeConflict {
			return nil // the next look sees it as it is
		}
		return err
	}
	r.metrics.removed.Inc()
	r.cfg.Logger.Info("a content that nobody needs was removed from the servers", "digest", c.Digest)
	return nil
}

// sweep removes pieces that are in no book: a store that was put back from a copy does not know what came after that. A
// record that goes is written first, so that whoever puts the same content just now is not hit.
func (r *Room) sweep(ctx context.Context) error {
	digests, err := r.cfg.Bucket.Digests(ctx)
	r.mu.Lock()
	news := r.unseen.news(err) && ctx.Err() == nil
	r.mu.Unlock()
	if news {
		r.cfg.Logger.Warn("it is not known what the servers have", "err", err, "hint", protocol.HintOf(err))
	}
	if err != nil {
		return err
	}
	records := r.cfg.Store.Contents.List()
	for _, digest := range digests {
		if slices.ContainsFunc(records, func(c store.Content) bool { return c.Digest == digest }) {
			continue
		}
		c := store.Content{Digest: digest, ID: r.cfg.NewID(), Bucket: r.cfg.Bucket.ID()}
		if err := r.doom(ctx, c); err != nil {
			r.cfg.Logger.Warn("a content that is in no book is still on the servers", "digest", digest, "err", err)
			return err
		}
	}
	return nil
}
