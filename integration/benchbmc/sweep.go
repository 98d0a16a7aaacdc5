package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

const (
	// stepLimit bounds one call, and the wait for what it brings about.
	stepLimit = time.Minute
	// lookAgain is how often a sweep reads while it waits.
	lookAgain = time.Second
)

// sweep arms, boots and stops every server, all at once.
func (r *rack) sweep(ctx context.Context, out io.Writer, p plan, _ *fleetProcess) error {
	steps := []string{"SetBoot", "On", "On to consumed", "ForceOff", "ForceOff to Off", "read"}
	figures := make(map[string]*figure, len(steps))
	for _, s := range steps {
		figures[s] = new(figure)
	}
	before := usageNow()
	var all sync.WaitGroup
	for _, d := range r.drivers {
		all.Go(func() { sweepOne(ctx, d, figures, lookAgain/time.Duration(p.faster)) })
	}
	all.Wait()
	after := usageNow()
	done, _ := figures["ForceOff to Off"].count()
	fmt.Fprintf(out, "SetBoot, On, boot, ForceOff of %d at once: %s, %d came to the end; %s\n",
		len(r.drivers), after.at.Sub(before.at).Round(100*time.Millisecond), done, after.since(before))
	for _, s := range steps {
		fmt.Fprintf(out, "  %s: %v\n", s, figures[s])
	}
	return ctx.Err()
}

// sweepOne stops at the first step that fails.
func sweepOne(ctx context.Context, d bmc.Driver, figures map[string]*figure, again time.Duration) {
	step := func(name string, do func(context.Context) error) bool {
		one, cancel := context.WithTimeout(ctx, stepLimit)
		defer cancel()
		begun := time.Now()
		err := do(one)
		figures[name].add(time.Since(begun), err)
		return err == nil
	}
	until := func(done func(protocol.Observation) bool) func(context.Context) error {
		return func(ctx context.Context) error {
			for {
				begun := time.Now()
				o, err := d.Observe(ctx)
				figures["read"].add(time.Since(begun), err)
				if err == nil && done(o) {
					return nil
				}
				if !sleep(ctx, again) {
					return protocol.Errorf(protocol.CodeTimeout, "bench.wait", "not within %s", stepLimit)
				}
			}
		}
	}
	_ = step("SetBoot", func(ctx context.Context) error {
		got, err := d.SetBoot(ctx, protocol.Override{Target: protocol.TargetHdd, Enabled: protocol.OverrideOnce})
		if err == nil && !got.Outcome.OK() {
			err = protocol.Errorf(protocol.CodeConflict, "bench.set_boot", "%s", got.Outcome)
		}
		return err
	}) &&
		step("On", func(ctx context.Context) error { return d.Reset(ctx, bmc.ResetOn) }) &&
		step("On to consumed", until(func(o protocol.Observation) bool {
			return o.Power == protocol.PowerOn && !o.Override.Armed()
		})) &&
		step("ForceOff", func(ctx context.Context) error { return d.Reset(ctx, bmc.ResetForceOff) }) &&
		step("ForceOff to Off", until(func(o protocol.Observation) bool { return o.Power == protocol.PowerOff }))
}
