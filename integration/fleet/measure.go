package fleet

import (
	"context"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"rackboot/integration/benchreport"
	"rackboot/protocol"
)

// Measure writes figures for a time, with news and holds.
func (f *Fleet) Measure(ctx context.Context, load Load) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var beside sync.WaitGroup
	var good []held
	var failed []error
	if load.News > 0 {
		beside.Go(func() { f.nudges(ctx, load.News) })
	}
	holds := make(chan struct{})
	beside.Go(func() {
		defer close(holds)
		if load.Holds > 0 {
			good, failed = f.holds(ctx, load.Holds, load.For)
		}
	})
	f.Spread()
	start, err := f.sample()
	if err != nil {
		return err
	}
	last := start
	for over := time.After(load.For); over != nil; {
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
	out := Result{Whole: f.between(start, start, end), Holds: came(good), Failures: f.shared.counts.failures.Load(), Lost: f.again()}
	for _, err := range failed {
		out.Failed = append(out.Failed, err.Error())
	}
	if err := f.table.write(out); err != nil {
		return err
	}
	if len(failed) > 0 {
		return protocol.Errorf(protocol.CodeTimeout, "measure holds", "%d of %d failed", len(failed), load.Holds)
	}
	return nil
}

// nudges has something happen to servers, so often per second, until ctx ends.
func (f *Fleet) nudges(ctx context.Context, perSecond float64) {
	ticks := time.NewTicker(max(time.Duration(float64(time.Second)/perSecond), time.Microsecond))
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

// again is how many connections were made again.
func (f *Fleet) again() int64 { return max(0, f.shared.counts.connects.Load()-int64(len(f.agents))) }

func (f *Fleet) sample() (s sample, err error) {
	c := &f.shared.counts
	s = sample{at: time.Now(), reports: c.reports.Load(), events: c.events.Load(), received: c.received.Load()}
	if s.hub, err = usageOf(f.cfg.Load.HubPID); err != nil {
		return s, err
	}
	s.own, err = usageOf(os.Getpid())
	return s, err
}

// between is the figure of an interval.
func (f *Fleet) between(start, from, to sample) Figure {
	took := to.at.Sub(from.at).Seconds()
	rate := func(n int64) float64 { return float64(n) / took }
	cpu := func(a, b benchreport.Usage) float64 { return 100 * (b.CPU - a.CPU).Seconds() / took }
	out := Figure{
		Seconds: to.at.Sub(start.at).Seconds(), Reports: rate(to.reports - from.reports), Events: rate(to.events - from.events), Received: rate(to.received - from.received),
		HubCPU: cpu(from.hub, to.hub), HubRSS: to.hub.RSS, HubAnon: to.hub.Own, OwnCPU: cpu(from.own, to.own), OwnRSS: to.own.RSS,
	}
	n := f.tally(time.Time{})
	out.Connected, out.InStep, out.Installed = n.connected, n.answered, n.installed
	return out
}
