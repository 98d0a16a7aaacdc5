package store

import (
	"context"
	"errors"

	"rackboot/state"
)

// follow applies the watch to the mirror until it ends, and says why it did.
func (co *core) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, err := co.kv.Watch(ctx, "", co.mirror.position())
	if errors.Is(err, state.ErrConflict) {
		changes, err = co.catchUp(ctx, err)
	}
	if err != nil {
		return err
	}
	co.following.Store(true)
	defer func() {
		co.following.Store(false)
		co.mirror.seen(0) // who waits for the watch looks again
	}()
	for change := range changes {
		var news []cached
		for _, e := range change {
			if !aside(e.Key) && !co.mirror.has(e.Key, e.Revision) { // else our own write: it is decoded already
				news = append(news, co.readLogged(e))
			}
		}
		co.mirror.applyWatched(news...)
		co.mirror.seen(change[len(change)-1].Revision)
	}
	return errors.New("watch channel was closed")
}

// catchUp lists again where a watch from the mirror's position is a conflict, and watches from there. A
// store that is older than the mirror was set back under a running hub, and is not taken for what is.
func (co *core) catchUp(ctx context.Context, conflict error) (<-chan []state.Entry, error) {
	entries, revision, err := co.kv.List(ctx, "")
	if err != nil {
		return nil, err
	}
	if revision < co.mirror.position() {
		return nil, conflict
	}
	co.logger.Warn("the store was listed again: the watch may have missed deletions", "revision", revision)
	co.mirror.replace(co.readAll(entries), revision)
	return co.kv.Watch(ctx, "", revision)
}
