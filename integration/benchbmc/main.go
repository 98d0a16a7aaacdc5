// Command benchbmc measures the BMC driver against simulated BMCs that answer as
// slowly as eight vendors' do, and prints a table. The BMCs run in a process of
// their own, over loopback TLS, so that their memory and CPU are not counted.
//
//	go run ./integration/benchbmc [-bmcs 200] [-poll 2m] [-besides 30s]
//
// It needs nothing but Go on Linux, and ends by itself within -poll, twice
// -besides and some minutes.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"rackboot/bmc/redfish"
)

// The measurements end after this, whatever the BMCs do, and fail.
const limit = 15 * time.Minute

// fleetArg makes a process the simulator.
const fleetArg = "-fleet"

// plan is what is measured.
type plan struct {
	bmcs     int
	poll     time.Duration // how long all are polled
	interval time.Duration // between two polls of one BMC, jittered by a tenth
	besides  time.Duration // each of the two runs beside bad BMCs
	often    time.Duration // interval of those
	faster   int           // every latency, and POST, is divided by this
}

func main() {
	p := plan{interval: 15 * time.Second, often: time.Second}
	fleet := flag.Bool(fleetArg[1:], false, "be the simulated BMCs: used by the program itself")
	flag.IntVar(&p.bmcs, "bmcs", 200, "simulated BMCs")
	flag.DurationVar(&p.poll, "poll", 2*time.Minute, "time of the poll load")
	flag.DurationVar(&p.besides, "besides", 30*time.Second, "time of each run beside bad BMCs")
	flag.IntVar(&p.faster, "faster", 1, "divide latencies and POST by this, to try the program")
	flag.Parse()
	var err error
	if *fleet {
		err = serveFleet(os.Stdin, os.Stdout, p.bmcs, p.faster)
	} else {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		err = measure(ctx, os.Stdout, p)
		stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchbmc:", err)
		os.Exit(1)
	}
}

// measure does all measurements, one after the other.
func measure(ctx context.Context, out io.Writer, p plan) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	child, err := startFleet(ctx, p)
	if err != nil {
		return err
	}
	defer child.end()
	before := usageNow()
	dialer, err := redfish.New(redfish.Config{})
	if err != nil {
		return err
	}
	rack, err := open(dialer, child.servers)
	if err != nil {
		return err
	}
	defer rack.close()
	fmt.Fprintf(out, "%d BMCs of 8 vendors' latencies; driver before the first request: %.1f MB\n", p.bmcs, before.rss)
	for _, part := range []func(context.Context, io.Writer, plan, *fleetProcess) error{rack.pollLoad, rack.sweep, rack.besides} {
		if err := part(ctx, out, p, child); err != nil {
			return err
		}
	}
	return ctx.Err()
}
