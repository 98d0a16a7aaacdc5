package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"rackboot/protocol"
)

const (
	// interval is between two figures, and stepLook between two looks whether all racks are
	// in step.
	interval = 10 * time.Second
	stepLook = 20 * time.Millisecond
)

// Fleet is the agents that run. Make it with Start.
type Fleet struct {
	cfg    Config
	shared *shared
	agents []*agent
	table  table

	cancel context.CancelFunc
	all    sync.WaitGroup
	mu     sync.Mutex
	errs   []error
}

// Run makes a fleet, waits until it is in step, measures, and ends it.
func Run(ctx context.Context, cfg Config) (err error) {
	f, err := Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.InStep(ctx); err != nil {
		return err
	}
	return f.Measure(ctx)
}

// Start makes the resources, joins who has not joined yet, and starts all agents. Close
// ends them. Errors are invalid, or the hub's.
func Start(ctx context.Context, cfg Config) (*Fleet, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	f := &Fleet{cfg: cfg, table: table{out: cfg.Out, json: cfg.JSON, hub: cfg.Load.HubPID > 0}}
	var err error
	if f.shared, err = newShared(); err != nil {
		return nil, err
	}
	begun := time.Now()
	n, err := f.cfg.apply(ctx)
	if err != nil {
		return nil, err
	}
	f.table.say("%d resources of %d racks were applied in %s", n, cfg.Racks, since(begun))
	begun = time.Now()
	from := f.cfg.from()
	ids, joined, err := f.cfg.identities(ctx, from)
	if err != nil {
		return nil, err
	}
	if joined > 0 {
		f.table.say("%d agents have joined in %s", joined, since(begun))
	}
	for i, id := range ids {
		a, err := newAgent(&f.cfg, id, from[i], f.shared)
		if err != nil {
			return nil, err
		}
		f.agents = append(f.agents, a)
	}
	ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for _, a := range f.agents {
		f.all.Go(func() {
			if err := a.run(ctx); err != nil {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.errs = append(f.errs, fmt.Errorf("agent %s: %w", a.name, err))
			}
		})
	}
	return f, nil
}

// Close ends the agents, and keeps what they have on disk.
func (f *Fleet) Close() error {
	f.cancel()
	f.all.Wait()
	return errors.Join(f.errs...)
}

// InStep waits until each agent has what the hub has, and each claimed server is
// installed. Errors: timeout, with what is missing.
func (f *Fleet) InStep(ctx context.Context) error {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, f.cfg.Within)
	defer cancel()
	for {
		answered, known, installed := 0, 0, 0
		for _, a := range f.agents {
			if a.answered.Load() {
				answered++
			}
			known += int(a.known.Load())
			installed += int(a.installed.Load())
		}
		servers := f.cfg.Racks * f.cfg.Servers
		if answered == len(f.agents) && known >= servers && (f.cfg.Image == "" || installed >= servers) {
			f.table.say("all racks are in step after %s", since(begun))
			return nil
		}
		select {
		case <-ctx.Done():
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return context.Cause(ctx)
			}
			err := protocol.Errorf(protocol.CodeTimeout, "wait for the fleet", "after %s %d of %d racks are in step, with %d of %d servers, %d of them installed%s",
				f.cfg.Within, answered, len(f.agents), known, servers, installed, f.firstFailure())
			return err.WithHint("rackctl get claims says what those wait for; where no rack connects, the folder's certificates may be of another hub: remove it")
		case <-time.After(stepLook):
		}
	}
}

func (f *Fleet) firstFailure() string {
	if err := f.shared.counts.first.Load(); err != nil {
		return fmt.Sprintf("; the first message that was refused: %v", *err)
	}
	return ""
}

// Measure writes figures for Config.For, with news and holds.
func (f *Fleet) Measure(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var beside sync.WaitGroup
	var good []held
	var failed []error
	if f.cfg.Load.News > 0 {
		beside.Go(func() { f.news(ctx) })
	}
	holds := make(chan struct{})
	beside.Go(func() {
		defer close(holds)
		if f.cfg.Load.Holds > 0 {
			good, failed = f.holds(ctx, f.cfg.Load.Holds, f.cfg.Load.For)
		}
	})
	for _, a := range f.agents {
		signal(a.spread)
	}
	start, err := f.sample()
	if err != nil {
		return err
	}
	last := start
	for over := time.After(f.cfg.Load.For); over != nil; {
		select {
		case <-ctx.Done():
			over = nil
		case <-over:
			over = nil
		case <-time.After(interval):
		}
		next, err := f.sample()
		if err != nil {
			return err
		}
		if over != nil || last == start { // the last interval is as long as the others
			if err := f.table.write(f.between(start, last, next)); err != nil {
				return err
			}
			last = next
		}
	}
	stopped := ctx.Err()
	if stopped == nil {
		<-holds // which have deadlines
	}
	cancel()
	beside.Wait()
	end, err := f.sample()
	if err != nil {
		return err
	}
	out := Result{Whole: f.between(start, start, end), Holds: came(good), Failures: f.shared.counts.failures.Load(), Lost: f.lost()}
	for _, err := range failed {
		out.Failed = append(out.Failed, err.Error())
	}
	if err := f.table.write(out); err != nil {
		return err
	}
	if len(failed) > 0 {
		return protocol.Errorf(protocol.CodeTimeout, "measure holds", "%d of %d failed", len(failed), f.cfg.Load.Holds)
	}
	return nil
}

// news has something happen to servers until ctx ends.
func (f *Fleet) news(ctx context.Context) {
	ticks := time.NewTicker(max(time.Duration(float64(time.Second)/f.cfg.Load.News), time.Microsecond))
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			signal(f.agents[rand.N(len(f.agents))].nudges)
		}
	}
}

// lost is how many connections were made again.
func (f *Fleet) lost() int64 { return max(0, f.shared.counts.connects.Load()-int64(len(f.agents))) }

func since(t time.Time) time.Duration { return time.Since(t).Round(time.Millisecond) }
