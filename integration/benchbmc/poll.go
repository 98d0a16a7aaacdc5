package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
)

// readLimit is an agent's deadline for a read.
const readLimit = 30 * time.Second

// rack is the drivers, one for each BMC.
type rack struct{ drivers []bmc.Driver }

func open(dialer *redfish.Dialer, servers []server) (*rack, error) {
	r := &rack{}
	for _, s := range servers {
		d, err := dialer.Open(s.target())
		if err != nil {
			r.close()
			return nil, err
		}
		r.drivers = append(r.drivers, d)
	}
	return r, nil
}

// close ends all sessions, at once.
func (r *rack) close() {
	var all sync.WaitGroup
	for _, d := range r.drivers {
		all.Go(func() { _ = d.Close() })
	}
	all.Wait()
}

// poll reads drivers at an interval that is jittered by a tenth, from a random
// moment of the first interval on, until ctx ends. each gets every read.
func poll(ctx context.Context, drivers []bmc.Driver, interval time.Duration, each func(i int, took time.Duration, err error)) {
	var all sync.WaitGroup
	for i, d := range drivers {
		all.Go(func() {
			wait := time.Duration(rand.Float64() * float64(interval))
			for sleep(ctx, wait) {
				begun := time.Now()
				one, cancel := context.WithTimeout(ctx, readLimit)
				_, err := d.Observe(one)
				cancel()
				if ctx.Err() != nil {
					return
				}
				each(i, time.Since(begun), err)
				wait = time.Duration((0.9+0.2*rand.Float64())*float64(interval)) - time.Since(begun)
			}
		})
	}
	all.Wait()
}

// pollLoad polls all BMCs as an agent does.
func (r *rack) pollLoad(ctx context.Context, out io.Writer, p plan, _ *fleetProcess) error {
	read := make([]atomic.Int64, len(r.drivers)) // UnixNano of the last good read
	for i := range read {
		read[i].Store(time.Now().UnixNano())
	}
	var reads figure
	each := func(i int, took time.Duration, err error) {
		reads.add(took, err)
		if err == nil {
			read[i].Store(time.Now().UnixNano())
		}
	}
	polling, stop := context.WithCancel(ctx)
	defer stop()
	var ended sync.WaitGroup
	ended.Go(func() { poll(polling, r.drivers, p.interval, each) })
	// The first round logs in everywhere and has no age.
	if !sleep(ctx, 2*p.interval) {
		stop()
		ended.Wait()
		return ctx.Err()
	}
	var oldest []time.Duration
	begun := usageNow()
	good, bad := reads.count()
	for end := time.Now().Add(p.poll); time.Now().Before(end) && sleep(ctx, min(time.Second, p.poll/10)); {
		last := time.Now().UnixNano()
		now := last
		for i := range read {
			last = min(last, read[i].Load())
		}
		oldest = append(oldest, time.Duration(now-last))
	}
	after := usageNow()
	moreGood, moreBad := reads.count()
	stop()
	ended.Wait()
	rate := float64(moreGood+moreBad-good-bad) / after.at.Sub(begun.at).Seconds()
	fmt.Fprintf(out, "poll every %s for %s: %s; %.1f reads/s, first round included: %v\n", p.interval, p.poll, after.since(begun), rate, &reads)
	fmt.Fprintf(out, "  oldest observation of the %d: p50 %s, p99 %s\n", len(read), round(percentile(oldest, 0.5)), round(percentile(oldest, 0.99)))
	return ctx.Err()
}

// besides polls all but two, first with those two well and polled too, then with
// one that hangs and one that answers a byte per second.
func (r *rack) besides(ctx context.Context, out io.Writer, p plan, child *fleetProcess) error {
	if len(r.drivers) < 3 {
		return errors.New("too few BMCs")
	}
	var runs [2]figure
	var bad figure
	for n, order := range []string{"good", "bad"} {
		if err := child.tell(order); err != nil {
			return err
		}
		polling, stop := context.WithTimeout(ctx, p.besides)
		poll(polling, r.drivers, p.often, func(i int, took time.Duration, err error) {
			if isSpoilt(i, len(r.drivers)) {
				if n == 1 {
					bad.add(took, err)
				}
				return
			}
			runs[n].add(took, err)
		})
		stop()
	}
	if err := child.tell("good"); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d BMCs read every %s, all well: %v\n", len(r.drivers)-2, p.often, &runs[0])
	fmt.Fprintf(out, "  beside one that hangs and one of a byte per second (those: %v): %v\n", &bad, &runs[1])
	fmt.Fprintf(out, "  with / without: p50 %.2f, p99 %.2f\n", ratio(runs[1].at(0.5), runs[0].at(0.5)), ratio(runs[1].at(0.99), runs[0].at(0.99)))
	return ctx.Err()
}

func ratio(a, b time.Duration) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// sleep waits; false if ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
