package store

import (
	"context"
	"errors"
	"time"

	"rackboot/protocol"
	"rackboot/state"
)

// currentWait bounds how long somebody waits for what other hubs wrote before.
const currentWait = 10 * time.Second

// current waits until the mirror has all that was in the store when it was called, where other hubs write too: so that
// an answer for which nothing is written is true of the store, and not of what this hub knew before it was stopped or cut
// off. What is written now comes after all of that. The codes are unavailable and timeout.
func (co *core) current(ctx context.Context) error {
	const op = "hear what other hubs wrote"
	if co.alone() {
		return nil
	}
	if err := co.healthy(); err != nil {
		return err
	}
	revision, _, err := co.mark(ctx)
	if err != nil {
		return stateError(op, err)
	}
	wait, stop := context.WithTimeout(ctx, currentWait)
	defer stop()
	if !co.reached(wait, revision) {
		return protocol.Errorf(protocol.CodeUnavailable, op, "this hub has not heard yet what was written to the store").
			WithHint("ask again, or ask another hub")
	}
	return nil
}

// Current waits until this hub knows all that was in the store when it was called, where several hubs share it: for who is
// to say that nothing is to be done, and looks once more then. The codes are unavailable, timeout, and conflict where
// another hub was faster: it is tried again.
func (objs *Objects) Current(ctx context.Context) error { return objs.core.current(ctx) }

// knows has what this hub knows be what is in the store, for an answer for which nothing is written: the caller looks once
// more when it is. It is false where another hub was faster with its mark. The codes are those of current, and conflict
// where that was so too often.
func (co *core) knows(ctx context.Context, try int) (bool, error) {
	err := co.current(ctx)
	if err != nil && !co.again(ctx, err, try) {
		return false, err
	}
	return err == nil, nil
}

// reached waits until what was written up to a revision has come, and reports whether it has before ctx ended.
func (co *core) reached(ctx context.Context, revision uint64) bool {
	there := func() bool { return co.mirror.position() >= revision }
	again := time.NewTicker(reachedAgain)
	defer again.Stop()
	for !co.awaits(ctx, there) { // nothing is watched yet, or for a moment
		select {
		case <-again.C:
		case <-ctx.Done():
			return false
		}
	}
	return there()
}

// reachedAgain is how often it is looked whether the watch has begun.
const reachedAgain = 10 * time.Millisecond

// mark writes what nobody reads, and returns its revision: all that is in the store comes before it. A state.ErrConflict
// is another hub's mark.
func (co *core) mark(ctx context.Context) (revision uint64, value string, err error) {
	value = co.newID()
	e, err := co.kv.Get(ctx, probeKey)
	switch {
	case errors.Is(err, state.ErrNotFound):
		revision, err = co.kv.Create(ctx, probeKey, []byte(value))
	case err == nil:
		revision, err = co.kv.Update(ctx, probeKey, []byte(value), e.Revision)
	}
	return revision, value, err
}
