package badger

import (
	"time"

	"rackboot/state"
)

// The crash points of the store.
const (
	PointUpdateCommit    = "store/update/before-commit" // fn has run, nothing is written
	PointUpdateCommitted = "store/update/committed"     // on disk, Update has not returned
	PointBatchGroup      = "store/batch/before-group"   // callers wait, no fn has run
	PointBatchCommit     = "store/batch/before-commit"  // the fns of a group have run
	PointBatchCommitted  = "store/batch/committed"      // on disk, no caller knows it
)

// View runs fn on a snapshot; it never waits for a writer. Errors: those of fn,
// unavailable (closed).
func (s *Store) View(fn func(state.Txn) error) error {
	const op = "store view"
	if err := s.enter(op); err != nil {
		return err
	}
	defer s.leave()
	t := s.db.NewTransaction(false)
	defer t.Discard()
	return fn(&txn{s: s, t: t, readOnly: true})
}

// Update runs fn exactly once, alone among the writers; fn must not call the
// store. Errors: those of fn, invalid (too big), unavailable (closed, no space).
func (s *Store) Update(fn func(state.Txn) error) error {
	const op = "store update"
	if err := s.enter(op); err != nil {
		return err
	}
	defer s.leave()
	s.write.Lock()
	defer s.write.Unlock()
	return s.update(op, fn)
}

// update is Update with the write lock held.
func (s *Store) update(op string, fn func(state.Txn) error) error {
	t := s.db.NewTransaction(true)
	defer t.Discard()
	x := &txn{s: s, t: t}
	if err := fn(x); err != nil {
		return err
	}
	if x.tooBig != nil {
		return x.tooBig // fn dropped the error, and with it a write
	}
	if x.writes == 0 {
		return nil
	}
	s.cfg.Crash.At(PointUpdateCommit)
	if err := s.commit(op, x); err != nil {
		return err
	}
	s.cfg.Crash.At(PointUpdateCommitted)
	return nil
}

// commit writes the transaction to disk, if there is room.
func (s *Store) commit(op string, x *txn) error {
	if err := s.checkSpace(op); err != nil {
		return err
	}
	start := time.Now()
	err := x.t.Commit()
	s.metrics.commit.Observe(time.Since(start).Seconds())
	return s.mapError(op, err)
}
