package badger

import (
	"context"

	"rackboot/protocol"
	"rackboot/state"
)

// maxQueue bounds the Batch calls that wait for the committer, maxGroup those
// that share one transaction.
const (
	maxQueue = 1024
	maxGroup = 256
)

// call is one Batch on its way through the committer.
type call struct {
	ctx  context.Context
	fn   func(state.Txn) error
	done chan error // has room for the one answer, so nobody waits to send it
}

// Batch runs fn in one transaction with those of other callers, in another
// goroutine; fn must not call the store. An error of fn, also after it wrote,
// undoes only its own writes. Errors: those of fn, invalid (too big),
// unavailable (closed, no space), timeout (ctx ended; the outcome is unknown).
func (s *Store) Batch(ctx context.Context, fn func(state.Txn) error) error {
	const op = "store batch"
	if err := s.enter(op); err != nil {
		return err
	}
	defer s.leave()
	c := &call{ctx: ctx, fn: fn, done: make(chan error, 1)}
	select {
	case s.queue <- c:
	case <-ctx.Done():
		return protocol.Errorf(protocol.CodeTimeout, op, "not begun: %w", ctx.Err())
	}
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
		return protocol.Errorf(protocol.CodeTimeout, op, "the outcome is unknown: %w", ctx.Err())
	}
}

// commitLoop is the committer. It takes what waits, but never waits for more:
// under load the callers gather during the fsync of the group before.
func (s *Store) commitLoop() {
	defer close(s.stopped)
	for {
		select {
		case c := <-s.queue:
			s.commitAll(s.gather(c))
		case <-s.closing:
			return // every caller has gone, so what is queued was given up
		}
	}
}

// gather adds to first what waits, up to a group.
func (s *Store) gather(first *call) []*call {
	group := []*call{first}
	for len(group) < maxGroup {
		select {
		case c := <-s.queue:
			group = append(group, c)
		default:
			return group
		}
	}
	return group
}

// commitAll answers every call, in as few transactions as fit.
func (s *Store) commitAll(calls []*call) {
	s.write.Lock()
	defer s.write.Unlock()
	for len(calls) > 0 {
		s.cfg.Crash.At(PointBatchGroup)
		calls = calls[s.commitGroup(calls):]
	}
}

// commitGroup runs and commits the longest run of calls from the first that
// one transaction can take, and returns how many it answered, at least one.
//
// A transaction cannot be rolled back to before one fn. So a call that spoils
// the shared one (it failed after it wrote, or it found no room) ends the
// group before itself, and the ones before it run again without it.
func (s *Store) commitGroup(calls []*call) int {
	const op = "store batch"
	answers := make([]error, 0, len(calls))
	t := s.db.NewTransaction(true)
	defer t.Discard()
	x := &txn{s: s, t: t}
	for i, c := range calls {
		before := x.writes
		err := c.run(op, x)
		if x.tooBig != nil || err != nil && x.writes > before {
			if i == 0 {
				c.done <- firstError(err, x.tooBig)
				return 1
			}
			t.Discard()
			return s.commitGroup(calls[:i])
		}
		answers = append(answers, err)
	}
	var err error
	if x.writes > 0 {
		s.cfg.Crash.At(PointBatchCommit)
		if err = s.commit(op, x); err == nil {
			s.cfg.Crash.At(PointBatchCommitted)
		}
	}
	s.metrics.group.Observe(float64(len(calls)))
	for i, c := range calls {
		// What a fn read in a transaction that was not committed is void, and so
		// is the error it returned.
		c.done <- firstError(err, answers[i])
	}
	return len(calls)
}

// run does not begin for a caller that has gone.
func (c *call) run(op string, x *txn) error {
	if err := c.ctx.Err(); err != nil {
		return protocol.Errorf(protocol.CodeTimeout, op, "not begun: %w", err)
	}
	return c.fn(x)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
