package fair

import (
	"context"
	"slices"
	"sync"

	"rackboot/protocol"
)

// Places are what is shared. Each has to be given back, once. It is safe for concurrent use.
type Places struct {
	most int // who may wait, of one holder

	mu    sync.Mutex
	free  int
	held  map[string]int
	lines []*line // of those for whom somebody waits; the first is the next
	waits int
}

// line is who waits for one holder, the oldest first.
type line struct {
	name string
	in   []*waiter
}

// waiter is one who waits. got is closed when it has a place.
type waiter struct{ got chan struct{} }

// New returns n places, for which at most most of one holder wait.
func New(n, most int) *Places {
	return &Places{most: most, free: n, held: map[string]int{}}
}

// Try takes a place for a holder if it may have one now. others reports that those of others are in the way: it
// has none itself.
func (p *Places) Try(name string) (ok, others bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.may(name) {
		p.take(name)
		return true, false
	}
	return false, p.held[name] == 0
}

// Wait takes a place for a holder when it is its turn. The codes are unavailable if too many of the holder
// wait already, and timeout if ctx ends before.
func (p *Places) Wait(ctx context.Context, name string) error {
	p.mu.Lock()
	l := p.lineOf(name)
	if l == nil && p.may(name) {
		p.take(name)
		p.mu.Unlock()
		return nil
	}
	if l == nil {
		l = &line{name: name}
		p.lines = append(p.lines, l)
	}
	if len(l.in) >= p.most {
		p.mu.Unlock()
		return protocol.Errorf(protocol.CodeUnavailable, "wait", "%d requests of %s wait for their turn already", p.most, name)
	}
	w := &waiter{make(chan struct{})}
	l.in = append(l.in, w)
	p.waits++
	p.mu.Unlock()
	select {
	case <-w.got:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-w.got: // at the same moment
		p.leave(name)
	default:
		p.gone(l, w)
	}
	return protocol.Errorf(protocol.CodeTimeout, "wait", "%w", context.Cause(ctx))
}

// Leave gives a place back.
func (p *Places) Leave(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leave(name)
}

// Waiting is how many wait.
func (p *Places) Waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waits
}

// may, take, leave, serve, gone and lineOf need p.mu.
func (p *Places) may(name string) bool { return p.held[name] < p.free }

func (p *Places) take(name string) {
	p.held[name]++
	p.free--
}

func (p *Places) leave(name string) {
	p.free++
	if p.held[name]--; p.held[name] == 0 {
		delete(p.held, name)
	}
	for p.serve() {
	}
}

// serve gives a place to the next who may have one; its line goes to the end.
func (p *Places) serve() bool {
	for i, l := range p.lines {
		if !p.may(l.name) {
			continue
		}
		p.take(l.name)
		close(l.in[0].got)
		p.lines = append(slices.Delete(p.lines, i, i+1), l)
		p.gone(l, l.in[0])
		return true
	}
	return false
}

// gone takes one who waited out of its line.
func (p *Places) gone(l *line, w *waiter) {
	p.waits--
	l.in = slices.DeleteFunc(l.in, func(o *waiter) bool { return o == w })
	if len(l.in) == 0 {
		p.lines = slices.DeleteFunc(p.lines, func(o *line) bool { return o == l })
	}
}

func (p *Places) lineOf(name string) *line {
	if i := slices.IndexFunc(p.lines, func(l *line) bool { return l.name == name }); i >= 0 {
		return p.lines[i]
	}
	return nil
}
