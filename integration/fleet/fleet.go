package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// interval is between two figures, and stepLook between two looks whether all racks are
	// in step.
	interval = 10 * time.Second
	stepLook = 20 * time.Millisecond
)

// Fleet is the agents that run. Make it with Start. Its methods are called one after the other.
type Fleet struct {
	cfg    Config
	shared *shared
	agents []*agent
	table  table

	claimed map[string]bool // racks, by name
	lost    map[string]int  // by rack, how many servers were off when it last lost power
	placed  []string        // holds that lie
	news    float64         // changes of a server per second, while it is measured
	mark    sample          // where the counters stood at the last figure
	changes int             // of racks

	applied, joined time.Duration // that it took at the start

	cancel context.CancelFunc
	all    sync.WaitGroup
	mu     sync.Mutex
	errs   []error
}

// Start makes the resources, joins who has not joined yet, and starts all agents. Close
// ends them. Errors are invalid, or the hub's.
func Start(ctx context.Context, cfg Config) (*Fleet, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	f := &Fleet{cfg: cfg, table: table{out: cfg.Out, json: cfg.JSON, hub: cfg.Load.HubPID > 0}, claimed: map[string]bool{}, lost: map[string]int{}}
	var err error
	if f.shared, err = newShared(); err != nil {
		return nil, err
	}
	racks := make([]int, cfg.Racks)
	for i := range racks {
		racks[i] = cfg.Skip + i
	}
	begun := time.Now()
	n, err := f.cfg.apply(ctx, racks, f.cfg.manifests)
	if err != nil {
		return nil, err
	}
	f.applied = time.Since(begun)
	f.table.say("%d resources of %d racks were applied in %s", n, cfg.Racks, roundedSince(begun))
	begun = time.Now()
	from := f.cfg.from()
	ids, joined, err := f.cfg.identities(ctx, from)
	if err != nil {
		return nil, err
	}
	f.joined = time.Since(begun)
	if joined > 0 {
		f.table.say("%d agents have joined in %s", joined, roundedSince(begun))
	}
	for i, id := range ids {
		a, err := newAgent(&f.cfg, id, from[i], f.shared)
		if err != nil {
			return nil, err
		}
		f.agents = append(f.agents, a)
	}
	live, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f.cancel = cancel
	for _, a := range f.agents {
		f.all.Go(func() {
			if err := a.run(live); err != nil {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.errs = append(f.errs, fmt.Errorf("agent %s: %w", a.name, err))
			}
		})
	}
	return f, nil
}

// Took is how long it took at the start until the racks, BMCs and servers were applied, and until all agents had joined
// after that.
func (f *Fleet) Took() (applied, joined time.Duration) { return f.applied, f.joined }

// Close ends the agents, and keeps what they have on disk.
func (f *Fleet) Close() error {
	f.cancel()
	f.all.Wait()
	return errors.Join(f.errs...)
}

func (f *Fleet) firstFailure() string {
	if err := f.shared.counts.first.Load(); err != nil {
		return fmt.Sprintf("; the first message that was refused: %v", *err)
	}
	return ""
}

// Spread has agents report at any moment, as racks do which were not started at once.
func (f *Fleet) Spread() {
	for _, a := range f.agents {
		signal(a.spread)
	}
}

func roundedSince(t time.Time) time.Duration { return time.Since(t).Round(time.Millisecond) }

// powered are the racks that have power.
func (f *Fleet) powered() (out []string) {
	for _, a := range f.agents {
		if !a.progress.dark.Load() {
			out = append(out, a.rack)
		}
	}
	return out
}
