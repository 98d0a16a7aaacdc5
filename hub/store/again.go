package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"rackboot/state"
)

// again says whether an operation is tried again after an error: it has lost to another writer, and
// not too often. It pauses before, the longer the more often it has lost.
func (co *core) again(ctx context.Context, err error, try int) bool {
	if !errors.Is(err, state.ErrConflict) || try >= writeTries {
		return false
	}
	if try == 1 {
		return true
	}
	pause := time.NewTimer(rand.N(time.Millisecond << min(try, 8)))
	defer pause.Stop()
	select {
	case <-pause.C:
		return true
	case <-ctx.Done():
		return false
	}
}
