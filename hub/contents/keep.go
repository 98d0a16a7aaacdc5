package contents

import (
	"context"
	"errors"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/state/blob"
	"rackboot/state/jetstream"
)

const (
	// keepTries bounds how often Keep begins again because somebody else has changed the record.
	keepTries = 32
	// goneWait is how long Keep waits for a content that is being removed, and lookAgain how often it looks.
	goneWait  = 30 * time.Second
	lookAgain = 250 * time.Millisecond
	// recordWait bounds what is written although the caller has gone.
	recordWait = 15 * time.Second
)

// errMoved is that somebody else has changed a record meanwhile.
var errMoved = errors.New("somebody else has changed the record")

// Keep has a content that is in the hub's folder on the servers, all of it, and returns its record, which was written
// just now: a name that is written in one commit with it has its content. The codes are not_found (it is not in the
// folder), invalid (that is damaged), unavailable (no room, no server, it is being removed) and timeout.
func (r *Room) Keep(ctx context.Context, digest string) (store.Content, error) {
	c, err := r.keep(ctx, digest)
	r.metrics.stores.WithLabelValues(resultOf(err)).Inc()
	return c, err
}

func (r *Room) keep(ctx context.Context, digest string) (store.Content, error) {
	const op = "keep content on the servers"
	if err := r.cfg.Bucket.Ready(ctx); err != nil {
		return store.Content{}, err
	}
	begun := r.cfg.Clock()
	for range keepTries {
		c, err := r.cfg.Store.Contents.Newest(ctx, digest)
		if err != nil {
			return c, err
		}
		state := c.State
		if c.Revision == 0 {
			state = recordNone
		}
		switch stepFor(state, c.Bucket == r.cfg.Bucket.ID()) {
		case keepWait:
			err = r.awaitGone(ctx, op, c, begun)
		case keepTouch:
			err = r.put(ctx, &c)
		case keepBegin:
			if err = r.room(ctx, op, digest); err == nil {
				c, err = r.begin(ctx, c)
			}
			if err == nil {
				c, err = r.send(ctx, c, true)
			}
		case keepSend:
			c, err = r.send(ctx, c, false)
		case keepAnew:
			c, err = r.send(ctx, c, true)
		}
		switch {
		case err == nil && c.State == store.ContentWhole:
			return c, nil
		case err != nil && !errors.Is(err, errMoved) && protocol.CodeOf(err) != protocol.CodeConflict:
			return c, err
		}
	}
	return store.Content{}, protocol.Errorf(protocol.CodeUnavailable, op, "%s: other hubs change it all the time", digest).WithHint("try again")
}

// put writes a record, touched now.
func (r *Room) put(ctx context.Context, c *store.Content) error {
	c.Touched = r.cfg.Clock().UTC()
	return r.cfg.Store.Contents.Put(ctx, c)
}

// awaitGone waits a moment for one that is being removed.
func (r *Room) awaitGone(ctx context.Context, op string, c store.Content, begun time.Time) error {
	for r.cfg.Clock().Sub(begun) < goneWait {
		select {
		case <-ctx.Done():
			return protocol.Errorf(protocol.CodeTimeout, op, "%s is being removed: %w", c.Digest, ctx.Err())
		case <-time.After(lookAgain):
		}
		now, err := r.cfg.Store.Contents.Newest(ctx, c.Digest)
		if err != nil {
			return err
		}
		if now.Revision != c.Revision {
			return errMoved
		}
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "%s is being removed from the servers, since nothing needed it", c.Digest).
		WithHint("try again in a minute; if it stays so, look at the log of the hub that works the site")
}

// room says why there is none.
func (r *Room) room(ctx context.Context, op, digest string) error {
	f, size, err := r.openContent(digest)
	if err != nil {
		return err
	}
	_ = f.Close() // nothing was read
	used, err := r.cfg.Bucket.Used(ctx)
	if err != nil {
		return err
	}
	if int64(used)+size > r.cfg.Quota {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w: %s needs %d bytes, and the NATS servers have %d of %d", blob.ErrInsufficient, digest, size, used, r.cfg.Quota).
			WithHint("remove files that nobody needs, or raise isos.quotaMiB, which counts images of the registry too; what was removed goes from the servers ten minutes later")
	}
	return nil
}

// begin writes the record of a new life, in the place of one of a bucket that is gone.
func (r *Room) begin(ctx context.Context, was store.Content) (store.Content, error) {
	f, size, err := r.openContent(was.Digest)
	if err != nil {
		return was, err
	}
	_ = f.Close() // nothing was read
	c := store.Content{Digest: was.Digest, Size: size, State: store.ContentComing, ID: r.cfg.NewID(), Bucket: r.cfg.Bucket.ID(), Revision: was.Revision}
	if err := r.put(ctx, &c); err != nil {
		return c, err
	}
	r.cfg.Crash.At("hub.content.coming")
	return c, nil
}

// send puts the pieces there, and says so in the record. Whoever else puts the same sends the same.
func (r *Room) send(ctx context.Context, c store.Content, anew bool) (store.Content, error) {
	const op = "keep content on the servers"
	f, size, err := r.openContent(c.Digest)
	if err != nil {
		return c, err
	}
	defer f.Close()
	if size != c.Size {
		return c, protocol.Errorf(protocol.CodeInvalid, op, "%s has %d bytes here, and %d on the servers", c.Digest, size, c.Size).WithHint("check the hub's disk, and upload the file again")
	}
	sending, cancel := context.WithCancelCause(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		r.renew(sending, c, cancel)
	}()
	sent, err := r.cfg.Bucket.Put(sending, c.Digest, size, f, anew)
	r.metrics.sent.Add(float64(sent))
	moved := errors.Is(context.Cause(sending), errMoved)
	cancel(nil)
	<-renewed
	switch {
	case err != nil && moved:
		return c, errMoved
	case errors.Is(err, jetstream.ErrSource):
		return c, r.disown(ctx, c, err)
	case err != nil:
		return c, err
	}
	r.cfg.Crash.At("hub.content.sent")
	now, err := r.same(ctx, c)
	if err != nil {
		return c, err
	}
	now.State = store.ContentWhole
	if err := r.put(ctx, &now); err != nil {
		return now, err
	}
	r.cfg.Crash.At("hub.content.whole")
	r.cfg.Logger.Info("content is on the servers of the store", "digest", c.Digest, "size", c.Size, "sent", sent)
	return now, nil
}

// same is the record as it is now, if it still is of the same life and in the same state: then nothing was removed
// meanwhile.
func (r *Room) same(ctx context.Context, c store.Content) (store.Content, error) {
	now, err := r.cfg.Store.Contents.Newest(ctx, c.Digest)
	switch {
	case err != nil:
		return c, err
	case now.Revision == 0 || now.ID != c.ID || now.State != c.State || now.Bucket != c.Bucket:
		return now, errMoved
	}
	return now, nil
}

// renew touches the record while pieces are sent, so that nobody takes it for one that was left.
func (r *Room) renew(ctx context.Context, c store.Content, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now, err := r.same(ctx, c)
		if err == nil {
			err = r.put(ctx, &now)
		}
		switch {
		case errors.Is(err, errMoved):
			cancel(errMoved)
			return
		case err != nil && ctx.Err() == nil:
			r.cfg.Logger.Debug("the record of a content was not touched; it is tried again", "digest", c.Digest, "err", err)
		}
	}
}

// disown sees to a content whose file here is not what its digest says: the file goes, and so does what was sent of it.
func (r *Room) disown(ctx context.Context, c store.Content, why error) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), recordWait)
	defer stop()
	r.spoil(ctx, c)
	err := r.verify(ctx, c.Digest)
	return errors.Join(protocol.Errorf(protocol.CodeInvalid, "keep content on the servers", "%w", why).WithHint("check the hub's disk, and upload the file again"), err)
}

// spoil says that what the servers have of a content is damaged, so that whoever has it puts it there anew.
func (r *Room) spoil(ctx context.Context, c store.Content) {
	now, err := r.same(ctx, c)
	if err == nil {
		now.State = store.ContentDamaged
		err = r.put(ctx, &now)
	}
	if err != nil && !errors.Is(err, errMoved) && protocol.CodeOf(err) != protocol.CodeConflict {
		r.cfg.Logger.Warn("it was not said that a content is damaged; that is found again", "digest", c.Digest, "err", err)
	}
}
