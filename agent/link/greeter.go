package link

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"rackboot/state"
)

// helloPause is the least time between two Hellos, whatever asks for them; with each
// that is not answered it doubles up to helloPauseMax, ± 50 %, so that agents do not
// come in step.
const (
	helloPause    = 2 * time.Second
	helloPauseMax = 30 * time.Second
)

// lookEvery is how often the clocks and the freshness of the hub's word are looked at.
const lookEvery = 5 * time.Second

// greeter says when a Hello is due. It is safe for concurrent use.
type greeter struct {
	clock state.Clock
	wake  chan struct{}
	// quick are Hellos that need not wait for the pause: the hub itself asked to hear
	// its nonce, and nothing goes on until it does; or it changed a segment.
	quick *rate.Limiter

	mu       sync.Mutex
	wanted   bool
	next     time.Time
	earliest time.Time
	pause    time.Duration
}

func newGreeter(clock state.Clock) *greeter {
	return &greeter{clock: clock, wake: make(chan struct{}, 1), quick: rate.NewLimiter(rate.Every(helloPauseMax), 3), pause: helloPause}
}

// ask wants a Hello after d, or as soon as the pause allows.
func (g *greeter) ask(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.clock().Add(d)
	if at.Before(g.earliest) {
		at = g.earliest
	}
	if !g.wanted || at.Before(g.next) {
		g.wanted, g.next = true, at
		g.signal() // only of news: run itself asks, each time that it looks
	}
}

// reply wants a Hello at once, because the hub asked for one or waits for its proof.
func (g *greeter) reply() {
	if !g.quick.AllowN(g.clock(), 1) {
		g.ask(0)
		return
	}
	g.fresh()
}

// fresh wants a Hello now, on a new connection or with leave.
func (g *greeter) fresh() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wanted, g.next, g.pause = true, g.clock(), helloPause
	g.signal()
}

// answered wants none any more.
func (g *greeter) answered() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wanted, g.pause = false, helloPause
}

func (g *greeter) signal() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// due says whether a Hello is due now, and counts it as said.
func (g *greeter) due() (now bool, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.clock()
	if !g.wanted {
		return false, lookEvery
	}
	if at.Before(g.next) {
		return false, min(lookEvery, g.next.Sub(at))
	}
	g.earliest = at.Add(max(helloPause, g.pause/2+time.Duration(rand.Int64N(int64(g.pause)))))
	g.next, g.pause = g.earliest, min(2*g.pause, helloPauseMax)
	return true, min(lookEvery, g.next.Sub(at))
}

// run says Hello when it is due, and looks every now and then.
func (g *greeter) run(ctx context.Context, say, look func()) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-g.wake:
		}
		look()
		now, wait := g.due()
		if now {
			say()
		}
		timer.Reset(wait)
	}
}
