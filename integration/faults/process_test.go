package faults

import (
	"context"
	"sync"
	"sync/atomic"
)

// process is one run of a hub or of an agent, from its start to its kill. A kill
// leaves no time for anything: what the process still does afterwards reaches no
// disk, no broker and no BMC.
type process struct {
	ctx     context.Context
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	dead    atomic.Bool
	fuse    atomic.Int64 // crash points until the process dies at one; 0 is never
	atDeath []func()     // called in order before anything of it ends
}

// newProcess makes a process; left keeps what is on its disk at its death.
func newProcess(ctx context.Context, left func()) *process {
	p := &process{atDeath: []func(){left}}
	p.ctx, p.cancel = context.WithCancel(ctx)
	return p
}

// run starts one of the process's goroutines. An error of a living process is one
// of the test.
func (p *process) run(s *site, what string, fn func(context.Context) error) {
	p.wg.Go(func() {
		if err := fn(p.ctx); err != nil && !p.dead.Load() {
			s.t.Errorf("%s: %v", what, err)
		}
	})
}

// crash is the process's state.Crasher: with a burning fuse, some point is the last.
func (p *process) crash(string) {
	if p.fuse.Load() > 0 && p.fuse.Add(-1) == 0 {
		p.die()
	}
}

// die may be called from the process's own goroutines.
func (p *process) die() {
	if p.dead.Swap(true) {
		return
	}
	for _, f := range p.atDeath {
		f()
	}
	p.cancel()
}

func (p *process) kill() {
	p.die()
	p.wg.Wait()
}
