package daemon

import (
	"context"
	"sync/atomic"

	"rackboot/hub/sharing"
)

// ending is how a hub ends: what it works goes to another hub first, where others share its store.
type ending struct {
	others atomic.Pointer[sharing.Room] // nil of a hub that is alone, or is only being put together
}

// context returns one that ends after ctx, once another hub has what this one works. It must be cancelled.
func (e *ending) context(ctx context.Context) (context.Context, context.CancelFunc) {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer stop()
		select {
		case <-ctx.Done():
			if others := e.others.Load(); others != nil {
				others.Drain(work)
			}
		case <-work.Done():
		}
	}()
	return work, stop
}
