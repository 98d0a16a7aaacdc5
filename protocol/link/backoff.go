package link

import (
	"context"
	"time"
)

// backoff is decorrelated jitter: each wait is random between the smallest and
// three times the wait before it, so that clients which lost the same broker
// drift apart (M. Brooker, "Exponential Backoff And Jitter", 2015).
type backoff struct {
	low, high time.Duration
	rand      func() float64
	last      time.Duration
}

func (b *backoff) next() time.Duration {
	top := min(b.high, 3*max(b.last, b.low))
	b.last = b.low + time.Duration(b.rand()*float64(top-b.low))
	return b.last
}

// settled is how long a connection lasts that was not one of too many. What a thousand agents
// that come back together can do to a broker they have done by then, and an agent that was cut
// off a few times in some minutes is not to wait for the longest time.
const settled = 10 * time.Second

// lived tells how long the connection before lasted. One that the broker ended
// at once does not make the waits short again.
func (b *backoff) lived(d time.Duration) {
	if d >= min(settled, b.high) {
		b.last = 0
	}
}

// sleep waits and says whether ctx is still alive.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
