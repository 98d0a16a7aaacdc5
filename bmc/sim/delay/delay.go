package delay

import (
	"context"
	"sync"
	"time"
)

// Pause waits, and says whether ctx still holds.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}

// Later does what is asked for later. Its methods are safe for concurrent use.
type Later struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	closed bool
	tasks  sync.WaitGroup
}

// New has nothing to do.
func New() *Later {
	l := &Later{}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Context ends when Stop is called.
func (l *Later) Context() context.Context { return l.ctx }

// After does something after a delay, unless Stop is called first. The caller may
// hold locks that what is done takes.
func (l *Later) After(d time.Duration, do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.tasks.Go(func() {
		if Pause(l.ctx, d) {
			do()
		}
	})
}

// Stop ends what waits, and takes nothing more.
func (l *Later) Stop() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.cancel()
}

// Wait returns when all that was begun has ended. Stop is called before.
func (l *Later) Wait() { l.tasks.Wait() }
