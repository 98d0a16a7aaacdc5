package certify

import (
	"context"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

// Config says how a machine is tried. The zero value is one cycle with the defaults.
type Config struct {
	// For is how long cycles are begun; at least one is.
	For time.Duration
	// Settle is how long Off has to be read; 0 is 30 s, as of a hold.
	Settle time.Duration
	// Patience is how long a power state may take that was ordered; 0 is 2 minutes.
	Patience time.Duration
	// Boot is how long the operating system has to start before it is asked to stop; 0 is 3 minutes.
	Boot time.Duration
	// Soft is how long the operating system has to stop; 0 is 2 minutes.
	Soft time.Duration
	// Every is the pause between two reads; 0 is 1 s.
	Every time.Duration
	// Tell is called with each step; nil for nobody.
	Tell func(Step)
}

func (c Config) withDefaults() Config {
	for _, d := range []struct {
		value *time.Duration
		or    time.Duration
	}{{&c.Settle, 30 * time.Second}, {&c.Patience, 2 * time.Minute}, {&c.Boot, 3 * time.Minute}, {&c.Soft, 2 * time.Minute}, {&c.Every, time.Second}} {
		if *d.value == 0 {
			*d.value = d.or
		}
	}
	if c.Tell == nil {
		c.Tell = func(Step) {}
	}
	return c
}

const (
	// putBackWithin bounds what is done after the last cycle.
	putBackWithin = 5 * time.Minute
	// backFor is how long the power state of before has to be read, and not longer than the settle
	// window: an order that was under way may still come to be.
	backFor = 15 * time.Second
)

// Run tries the machine behind a driver, of which a probe has said what it offers. The machine is
// powered off and on. It ends with its time, with ctx, or when the machine cannot be brought Off, and
// puts back what it changed in every case. The report is whole as far as it came.
func Run(ctx context.Context, d bmc.Driver, p protocol.Probe, c Config) *Report {
	c = c.withDefaults()
	r := &Report{
		Vendor: p.Inventory.Vendor, Model: p.Inventory.Model, Serial: p.Inventory.Serial, System: p.Inventory.SystemURI,
		Firmware: p.Firmware, BIOS: p.BIOS, Began: time.Now(), Settle: c.Settle,
	}
	t := &trial{driver: d, probe: p, config: c, report: r}
	t.found(context.WithoutCancel(ctx)) // what is to be put back is known, or nothing is ordered
	for end := r.Began.Add(c.For); ctx.Err() == nil && t.cycle(ctx); {
		r.Cycles++
		if !time.Now().Before(end) {
			break
		}
	}
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), putBackWithin)
	defer cancel()
	t.putBack(back)
	r.close(time.Now())
	return r
}
