package leasing

import (
	"context"
	"sync"
)

// turn is of whoever takes the packets of a lane, one after the other. Before he waits, for a disk or
// for an ARP reply, another one takes it over, so that nobody waits with him.
//
// Compared with workers who each take a packet: those wake one another, and each has a stack that has gone
// from the cache when it is his turn again.
type turn struct {
	pass   func()
	passed bool
}

type turnKey struct{}

// Waits is called before the answer to a packet waits for anything. It never waits itself.
func Waits(ctx context.Context) {
	if t, ok := ctx.Value(turnKey{}).(*turn); ok && !t.passed {
		t.passed = true
		t.pass()
	}
}

// lane is packets that are taken in turn.
type lane[M any] struct {
	packets chan Packet[M]
	most    int // packets that are in work at once

	mu     sync.Mutex
	inWork int  // of the goroutines that take packets, those that wait included
	taken  bool // somebody has the turn
}

// serve takes packets until there are none any more, each by do.
func (l *lane[M]) serve(ctx context.Context, working *sync.WaitGroup, do func(context.Context, Packet[M])) {
	l.mu.Lock()
	l.inWork, l.taken = 1, true
	l.mu.Unlock()
	working.Go(func() { l.take(ctx, working, do) })
}

func (l *lane[M]) take(ctx context.Context, working *sync.WaitGroup, do func(context.Context, Packet[M])) {
	t := &turn{pass: func() {
		if l.passed() {
			working.Go(func() { l.take(ctx, working, do) })
		}
	}}
	its := context.WithValue(ctx, turnKey{}, t)
	for p := range l.packets {
		do(its, p)
		if t.passed && !l.back() {
			return
		}
		t.passed = false
	}
}

// passed gives the turn away, and reports whether one more may be in work. If not, the first one that is
// ready takes it.
func (l *lane[M]) passed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken = l.inWork < l.most; l.taken {
		l.inWork++
	}
	return l.taken
}

// back reports whether one who has waited takes the turn again; else there is no more use for him.
func (l *lane[M]) back() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken {
		l.inWork--
		return false
	}
	l.taken = true
	return true
}
