package store

import (
	"context"
	"errors"

	"rackboot/protocol"
	"rackboot/state"
)

// probeTries bounds how often a probe begins again after another hub's.
const probeTries = 4

// Probe writes to the store and reads that again. Another hub that probes the same store
// at the same time is no failure. The codes are unavailable and timeout.
func (s *Store) Probe(ctx context.Context) error {
	const op = "probe the store"
	if l := s.Lost(); l != nil {
		return l.Err(op)
	}
	for try := 1; ; try++ {
		err := s.probe(ctx)
		if err == nil {
			return nil
		}
		if !errors.Is(err, state.ErrConflict) || try == probeTries {
			return stateError(op, err)
		}
	}
}

func (s *Store) probe(ctx context.Context) error {
	const op = "probe the store"
	revision, value, err := s.core.mark(ctx)
	if err != nil {
		return err
	}
	e, err := s.core.kv.Get(ctx, probeKey)
	if err != nil {
		return err
	}
	if e.Revision < revision || e.Revision == revision && string(e.Value) != value {
		return protocol.Errorf(protocol.CodeUnavailable, op, "revision %d was written, and revision %d was read after it", revision, e.Revision).
			WithHint("the store has lost what it acknowledged: look at its disk, and restore the hub from a copy")
	}
	return nil
}
