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
func (s *Store) close(ctx context.Context, e cached) (uint64, error) {
	at := e.Revision
	if e.closed == 0 {
		value, err := e.value()
		if err != nil {
			return 0, err
		}
		if at, err = s.put(ctx, e.Key, withMark(value, e.Revision), e.Revision); err != nil {
			return 0, err
		}
	}
	s.crash.At("hub.store.closed")
	if err := s.reaches(ctx, at); err != nil {
		s.reopen(ctx, e.Key, at)
		return 0, err
	}
	if !s.mirror.lives(e.Key, at) {
		return 0, state.ErrConflict
	}
	return at, nil
}

// reopen takes a mark back at its revision. Where that fails somebody else has, or who is kept
// waiting will.
func (s *Store) reopen(ctx context.Context, key string, at uint64) {
	e, ok := s.mirror.get(key)
	if !ok || e.Revision != at || e.closed == 0 {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), closedFor)
	defer stop()
	if _, err := s.put(ctx, key, withoutMark(e.Value), at); err != nil && !errors.Is(err, state.ErrConflict) {
		s.logger.Warn("mark not taken back", "key", key, "err", err)
	}
}

// opened is what is stored under a key as soon as it is not closed; false if there is nothing.
func (s *Store) opened(ctx context.Context, key string) (cached, bool, error) {
	for {
		e, there, err := s.awaitsOpen(ctx, key)
		if err != nil || !there || e.closed == 0 {
			return e, there, err
		}
		s.logger.Warn("the mark of somebody who has not ended is taken back", "key", key)
		s.reopen(ctx, key, e.Revision)
	}
}

// awaitsOpen waits while a key is closed, for as long as that is respected.
func (s *Store) awaitsOpen(ctx context.Context, key string) (cached, bool, error) {
	over := time.NewTimer(closedFor)
	defer over.Stop()
	for {
		moved := s.mirror.moves()
		e, there := s.mirror.get(key)
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
func (s *Store) reaches(ctx context.Context, revision uint64) error {
	wait, stop := context.WithTimeout(ctx, refreshWait)
	defer stop()
	if s.awaits(wait, func() bool { return s.mirror.position() >= revision }) && s.mirror.position() >= revision {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, at, err := s.kv.List(ctx, "")
	if err != nil {
		return err
	}
	if at < revision {
		return protocol.Errorf(protocol.CodeUnavailable, "read the store", "it is at revision %d, and %d was written", at, revision).
			WithHint("the store has lost what it acknowledged: look at its disk, and restore the hub from a copy")
	}
	s.mirror.replace(s.readAll(entries), at)
	return nil
}

// readAll decodes a list for the mirror.
func (s *Store) readAll(entries []state.Entry) (there []cached) {
	for _, e := range entries {
		if !aside(e.Key) {
			there = append(there, s.readLogged(e))
		}
	}
	return there
}

// closedFor is how long a mark is respected by those whom it keeps waiting. Who judges needs
// what the watch needs to bring the mark: milliseconds.
const closedFor = time.Second
