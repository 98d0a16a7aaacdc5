package store

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"

	"rackboot/protocol"
)

// everybody is how many may be in a turnstile at once.
const everybody = 1 << 20

// turnstile lets writers of this process in, and one who has lost alone, in the order in which they
// come. Nothing rests on it but that nobody loses for ever to those who come later: what is
// right is decided by the revisions in each commit, since others write in processes of their own.
type turnstile struct{ places *semaphore.Weighted }

func newTurnstile() *turnstile { return &turnstile{semaphore.NewWeighted(everybody)} }

// pass does something when it has a place; timeout if ctx ends before.
func (t *turnstile) pass(ctx context.Context, op string, alone bool, do func() error) error {
	places := int64(1)
	if alone {
		places = everybody
	}
	if err := t.places.Acquire(ctx, places); err != nil {
		return protocol.Errorf(protocol.CodeTimeout, op, "the store was busy with other writes: %w", err).
			WithHint("nothing was changed; try again")
	}
	defer t.places.Release(places)
	return do()
}

// underway counts what this process is writing, so that what has a bound is held against that
// too. What another hub writes at the same time is not in it: a bound may be passed by what
// that one has under way.
type underway struct {
	mu   sync.Mutex
	size map[string]int
}

// add counts n more of something until done, and returns what else is under way of it.
func (u *underway) add(of string, n int) (others int, done func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.size == nil {
		u.size = map[string]int{}
	}
	others = u.size[of]
	u.size[of] += n
	return others, func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.size[of] -= n; u.size[of] == 0 {
			delete(u.size, of)
		}
	}
}
