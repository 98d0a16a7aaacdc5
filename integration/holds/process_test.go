package holds

import (
	"context"
	"sync"
	"sync/atomic"
)

// process is one run of the agent or the hub. Killed, what it still does reaches no
// disk, no network and no BMC.
type process struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	dead   atomic.Bool
	atEnd  func() // keeps its disk, once
	failed func(error)
}

func newProcess(ctx context.Context, atEnd func(), failed func(error)) *process {
	p := &process{atEnd: atEnd, failed: failed}
	p.ctx, p.cancel = context.WithCancel(ctx)
	return p
}

func (p *process) run(fn func(context.Context) error) {
	p.wg.Go(func() {
		if err := fn(p.ctx); err != nil && !p.dead.Load() {
			p.failed(err)
		}
	})
}

// die may be called from the process's own goroutines.
func (p *process) die() {
	if p.dead.Swap(true) {
		return
	}
	p.atEnd()
	p.cancel()
}
