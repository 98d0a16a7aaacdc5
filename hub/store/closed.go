package store

import (
	"context"
	"errors"
	"time"

	"rackboot/protocol"
	"rackboot/state"
)

// A resource is closed while somebody judges who refers to it: nothing that is new refers to it
// then. It is a mark in what is stored, at a revision of its own: whoever checked the revision
// before is refused, and whoever reads it waits. Each write of the resource but one at the mark's
// revision takes the mark away, and with it the right to rest on what was judged. So a mark
// needs neither an owner nor an end: one that a crash left is taken back by whom it keeps waiting.

// close closes a resource at its revision, or leaves it closed, and returns the revision of the
// mark when the mirror has everything that was written before it. The error is a
// state.ErrConflict if it is not there any more or was changed.
func (co *core) close(ctx context.Context, e cached) (uint64, error) {
	at := e.Revision
	if e.closed == 0 {
		value, err := e.value()
		if err != nil {
			return 0, err
		}
		if at, err = co.put(ctx, e.Key, withMark(value, e.Revision), e.Revision); err != nil {
			return 0, err
		}
	}
	co.crash.At("hub.store.closed")
	if err := co.reaches(ctx, at); err != nil {
		co.reopen(ctx, e.Key, at)
		return 0, err
	}
	if !co.mirror.lives(e.Key, at) {
		return 0, state.ErrConflict
	}
	return at, nil
}

// reopen takes a mark back at its revision. Where that fails somebody else has, or who is kept
// waiting will.
func (co *core) reopen(ctx context.Context, key string, at uint64) {
	e, ok := co.mirror.get(key)
	if !ok || e.Revision != at || e.closed == 0 {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), closedFor)
	defer stop()
	if _, err := co.put(ctx, key, withoutMark(e.Value), at); err != nil && !errors.Is(err, state.ErrConflict) {
		co.logger.Warn("mark not taken back", "key", key, "err", err)
	}
}

// opened is what is stored under a key as soon as it is not closed; false if there is nothing.
func (co *core) opened(ctx context.Context, key string) (cached, bool, error) {
	for {
		e, there, err := co.awaitsOpen(ctx, key)
		if err != nil || !there || e.closed == 0 {
			return e, there, err
		}
		co.logger.Warn("the mark of somebody who has not ended is taken back", "key", key)
		co.reopen(ctx, key, e.Revision)
	}
}

// awaitsOpen waits while a key is closed, for as long as that is respected.
func (co *core) awaitsOpen(ctx context.Context, key string) (cached, bool, error) {
	over := time.NewTimer(closedFor)
	defer over.Stop()
	for {
		moved := co.mirror.moves()
		e, there := co.mirror.get(key)
		if !there || e.closed == 0 {
			return e, there, nil
		}
		select {
		case <-moved:
		case <-over.C:
			return e, true, nil
		case <-ctx.Done():
			return e, true, ctx.Err()
		}
	}
}

// reaches waits until the mirror has everything up to a revision. Where nothing is watched, or
// the watch hangs, the store is listed.
func (co *core) reaches(ctx context.Context, revision uint64) error {
	wait, stop := context.WithTimeout(ctx, refreshWait)
	defer stop()
	if co.awaits(wait, func() bool { return co.mirror.position() >= revision }) && co.mirror.position() >= revision {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, at, err := co.kv.List(ctx, "")
	if err != nil {
		return err
	}
	if at < revision {
		return protocol.Errorf(protocol.CodeUnavailable, "read the store", "it is at revision %d, and %d was written", at, revision).
			WithHint("the store has lost what it acknowledged: look at its disk, and restore the hub from a copy")
	}
	co.mirror.replace(co.readAll(entries), at)
	return nil
}

// readAll decodes a list for the mirror.
func (co *core) readAll(entries []state.Entry) (there []cached) {
	for _, e := range entries {
		if !aside(e.Key) {
			there = append(there, co.readLogged(e))
		}
	}
	return there
}

// closedFor is how long a mark is respected by those whom it keeps waiting. Who judges needs
// what the watch needs to bring the mark: milliseconds.
const closedFor = time.Second
