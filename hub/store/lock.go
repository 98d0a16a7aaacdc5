package store

import (
	"context"

	"rackboot/protocol"
)

// lock is a mutex whose waiters heed their context.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

// acquire returns the function that unlocks; timeout if ctx ends first.
func (l lock) acquire(ctx context.Context, op string) (func(), error) {
	select {
	case l <- struct{}{}:
		return func() { <-l }, nil
	case <-ctx.Done():
		return nil, protocol.Errorf(protocol.CodeTimeout, op, "the store was busy with other writes: %w", ctx.Err()).
			WithHint("nothing was changed; try again")
	}
}
