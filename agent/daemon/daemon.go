package daemon

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"rackboot/agent/guard"
	"rackboot/agent/installed"
	"rackboot/agent/otlp"
	"rackboot/agent/upgrade"
	"rackboot/fdlimit"
	"rackboot/internal/metrics"
	"rackboot/ready"
	"rackboot/state"
	"rackboot/state/clock"
	"rackboot/state/file"
)

// blobMinFree is what boot files leave free: more than the store needs to go on
// recording when the disk is full.
const blobMinFree = 192 << 20

// Options are what Run takes besides the file.
type Options struct {
	Version string
	Logger  *slog.Logger
	// Registry takes the metrics; nil is a new one.
	Registry metrics.Registry
	// MaxBackoff bounds the pause between two connections to the hub; 0 is the
	// link's default.
	MaxBackoff time.Duration
	// LookEvery bounds the time between two looks at certificate and keys; 0 is a minute.
	LookEvery time.Duration
	// ReopenEvery is how often a store is tried that does not open; 0 is every 5 s.
	ReopenEvery time.Duration
	// Clock is nil for the host's.
	Clock state.Clock
	// Crash is nil in production.
	Crash state.Crasher
	// Launched is the word of the launcher that started this process; nil is none.
	Launched *installed.Launched
	// Ready is called once all listeners are open.
	Ready func()
}

// Tries reports whether an error of Run says that the process is to end with [installed.ExitUpgrade].
func Tries(err error) bool { return errors.Is(err, upgrade.ErrTrial) }

// Run serves the rack until ctx ends. What its store is like is no reason to end: without one it
// guards.
func Run(ctx context.Context, c Config, o Options) (err error) {
	log, reg := o.Logger, o.Registry
	if reg == nil {
		reg = prometheus.NewRegistry()
	}
	if o.Clock == nil {
		o.Clock = clock.Now
	}
	id, err := loadIdentity(c.DataDir)
	if err != nil {
		return err
	}
	floor := openFloor(c.DataDir, o.Clock, builtAt(), o.Crash)
	if err := floor.damage(); err != nil {
		log.Error("the agent's time is damaged, and is taken from its other sources", "err", err)
	}
	keep := &keeper{dataDir: c.DataDir, clock: o.Clock, crash: o.Crash, floor: floor, id: id}
	if err := file.Sweep(c.path("identity")); err != nil {
		log.Error("what a crash left beside the agent's identity stays", "err", err)
	}
	g := guard.Open(guard.Config{Agent: id.Answer.Agent, Dir: c.DataDir, Clock: clock.Now, Logger: log, Crash: o.Crash})
	defer func() { err = errors.Join(err, g.Close()) }()
	if why := g.Volatile(); why != "" {
		log.Warn("the guard set would not survive the process", "why", why)
	}
	anchored, known, failed := openAnchor(c.DataDir, o.Crash, log)
	if failed != nil {
		log.Error("what is known of the store beside it cannot be had; that the store has less than it had is noticed less surely", "err", failed)
	} else {
		defer func() { err = errors.Join(err, anchored.close()) }()
	}
	stores := &stores{cfg: c, anchor: anchored, known: known, log: log, guard: g, reg: reg, every: cmp.Or(o.ReopenEvery, reopenElse)}
	spans, flush := c.OTLP.start(ctx, otlp.Resource{Agent: id.Answer.Agent, Rack: id.Answer.Rack, Version: o.Version, Host: hostName()}, log, reg)
	defer flush() // once the agent, which makes the spans, has ended
	p := &program{cfg: c, opts: o, log: log, reg: reg, id: id, keep: keep, guard: g, stores: stores, spans: spans}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return fdlimit.Watch(ctx, log, reg) })
	if c.Metrics != "" {
		written, err := ready.New(ready.Config{Logger: log, Registerer: reg, Probe: stores.probe})
		if err != nil {
			return err
		}
		if err := metrics.Serve(ctx, group, c.Metrics, reg, written.Ready, log); err != nil {
			return err
		}
	}
	group.Go(func() error { return p.run(ctx) })
	return group.Wait()
}
