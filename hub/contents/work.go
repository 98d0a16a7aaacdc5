package contents

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/state/blob"
	"rackboot/state/jetstream"
)

const (
	maxFetches = 2
	maxStores  = 1
	// What has at most smallBytes, as manifests have, does not wait for large ones: of those maxSmall are fetched at once.
	smallBytes = 4 << 20
	maxSmall   = 4
	// After a failure a content waits for pauseMin, and twice as long after each further one up to pauseMax.
	pauseMin = 5 * time.Second
	pauseMax = 5 * time.Minute
)

// look begins what is to be done for the contents that are named.
func (r *Room) look(ctx context.Context, all []stand, named map[string]bool) {
	todo := map[string]work{}
	for digest := range named {
		c, err := r.cfg.Store.Contents.Get(digest)
		state, here, lacks, quiet := r.state(digest), false, false, err != nil || r.quiet(c, restFor)
		for _, p := range all {
			here, lacks = here || p.Has(digest), lacks || p.lacks(digest)
		}
		if state == store.ContentWhole {
			here = !lacks // each folder has its own
		}
		switch w := workFor(here, state, quiet); {
		case w == workFetch && c.Size <= smallBytes:
			todo[digest] = workSmall
		case w != workNone:
			todo[digest] = w
		}
	}
	r.count(all, named)
	r.forget(named)
	for _, digest := range r.order(todo) {
		r.start(ctx, digest, todo[digest])
	}
}

// count counts what is lacking here, and on the servers.
func (r *Room) count(all []stand, named map[string]bool) {
	lacking, unstored := 0, 0
	for digest := range named {
		switch {
		case slices.ContainsFunc(all, func(p stand) bool { return p.lacks(digest) }):
			lacking++
		case !r.Whole(digest):
			unstored++
		}
	}
	r.metrics.lacking.Set(float64(lacking))
	r.metrics.unstored.Set(float64(unstored))
}

// order has those first for which agents wait.
func (r *Room) order(todo map[string]work) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.SortedFunc(maps.Keys(todo), func(a, b string) int {
		switch {
		case r.asked[a] == r.asked[b]:
			return 0
		case r.asked[a]:
			return -1
		}
		return 1
	})
}

// forget drops what is known of contents that nothing names any more.
func (r *Room) forget(named map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	gone := func(digest string) bool { return !named[digest] }
	maps.DeleteFunc(r.failed, func(digest string, _ failure) bool { return gone(digest) })
	maps.DeleteFunc(r.asked, func(digest string, _ bool) bool { return gone(digest) })
}

// start begins one of them, if there is a place for it and it did not fail just now.
func (r *Room) start(ctx context.Context, digest string, w work) {
	r.mu.Lock()
	defer r.mu.Unlock()
	running := 0
	for _, other := range r.busy {
		if other == w {
			running++
		}
	}
	most := map[work]int{workFetch: maxFetches, workSmall: maxSmall, workStore: maxStores}[w]
	if r.busy[digest] != "" || running >= most || r.cfg.Clock().Before(r.failed[digest].until) || ctx.Err() != nil {
		return
	}
	r.busy[digest] = w
	r.under.Go(func() {
		err := r.do(ctx, digest, w)
		r.ended(digest, err)
		if err != nil && ctx.Err() == nil {
			r.cfg.Logger.Warn("a content was not brought; it is tried again", "work", string(w), "digest", digest, "err", err)
		}
	})
}

func (r *Room) do(ctx context.Context, digest string, w work) error {
	if w == workStore {
		_, err := r.Keep(ctx, digest)
		return err
	}
	err := r.fetch(ctx, digest)
	r.metrics.fetches.WithLabelValues(resultOf(err)).Inc()
	return err
}

func (r *Room) ended(digest string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.busy, digest)
	if err == nil {
		delete(r.failed, digest)
		delete(r.asked, digest)
	} else {
		f := r.failed[digest]
		f.until = r.cfg.Clock().Add(min(pauseMin<<min(f.times, 10), pauseMax))
		f.times++
		r.failed[digest] = f
	}
	select {
	case r.poked <- struct{}{}: // the next one has its place
	default:
	}
}

// fetch brings a content into each folder that is to have it and does not.
func (r *Room) fetch(ctx context.Context, digest string) error {
	all, _, err := r.stands()
	for _, p := range all {
		if err == nil && p.lacks(digest) {
			err = r.fetchInto(ctx, p, digest)
		}
	}
	return err
}

// fetchInto brings a content into a folder, and goes on with what is there of it. It counts once it was compared with its
// digest. What the servers do not have as it was is said in the record. Each piece has the time of one call.
func (r *Room) fetchInto(ctx context.Context, into Shelf, digest string) error {
	c, err := r.cfg.Store.Contents.Newest(ctx, digest)
	if err != nil || c.State != store.ContentWhole || c.Bucket != r.cfg.Bucket.ID() {
		return err
	}
	in, err := into.Receive(ctx, digest, c.Size)
	if err != nil || in == nil {
		return err
	}
	defer in.Close()
	from, err := r.cfg.Bucket.Open(ctx, digest, c.Size, in.Offset())
	if err != nil {
		return err
	}
	began := in.Offset()
	err = errors.Join(in.Append(ctx, from), from.Close())
	r.metrics.fetched.Add(float64(in.Offset() - began))
	if err == nil {
		err = in.Finish()
	}
	switch {
	case err == nil:
		r.cfg.Logger.Info("content fetched from the servers of the store", "digest", digest, "size", c.Size)
	case errors.Is(err, jetstream.ErrPieces) || errors.Is(err, blob.ErrContent):
		r.spoil(ctx, c)
	}
	return err
}

// Bring fetches all that is named and is not in the folder, one after the other, and returns how many came and what did not, with the reason. It is for a hub
// that does not run. The codes are unavailable and timeout.
func (r *Room) Bring(ctx context.Context) (came int, lacking map[string]error, err error) {
	all, named, err := r.stands()
	if err == nil {
		err = r.cfg.Bucket.Ready(ctx)
	}
	if err != nil {
		return 0, nil, err
	}
	lacking = map[string]error{}
	for digest := range named {
		lacks := func(p stand) bool { return p.lacks(digest) }
		if !slices.ContainsFunc(all, lacks) {
			continue
		}
		err := r.fetch(ctx, digest)
		switch {
		case err != nil:
			lacking[digest] = err
		case !slices.ContainsFunc(all, lacks):
			came++
		default:
			lacking[digest] = protocol.Errorf(protocol.CodeNotFound, "fetch content", "the servers do not have all of it")
		}
	}
	return came, lacking, nil
}

// resultOf is an error in metrics.
func resultOf(err error) string {
	switch {
	case err == nil:
		return resultDone
	case errors.Is(err, blob.ErrInsufficient):
		return resultNoRoom
	case errors.Is(err, jetstream.ErrPieces), errors.Is(err, jetstream.ErrSource), errors.Is(err, blob.ErrContent), protocol.CodeOf(err) == protocol.CodeInvalid:
		return resultDamaged
	}
	return resultFailed
}
