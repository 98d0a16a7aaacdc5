package ready

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
)

// Bounds of a Check.
const (
	Within = 2 * time.Second // for a probe, and for whoever waits for one
	Fresh  = time.Second     // for which an answer is given again
)

// Config is what a Check needs.
type Config struct {
	// Probe tries. It should end when ctx does; until it has ended no other one begins.
	Probe func(ctx context.Context) error
	// Logger is told when the answer changes. It is required.
	Logger *slog.Logger
	// Registerer takes the metrics; nil is none.
	Registerer prometheus.Registerer
}

// Check says whether a daemon is ready. It is safe for concurrent use.
type Check struct {
	cfg      Config
	failures prometheus.Counter

	mu      sync.Mutex
	running *attempt // nil while none runs
	last    *attempt // nil before the first has ended
	said    error    // what the log has
}

// attempt is one probe. ended and err are set before done is closed.
type attempt struct {
	began, ended time.Time
	err          error
	done         chan struct{}
}

// New registers the metrics. Errors: invalid.
func New(cfg Config) (*Check, error) {
	const op = "check readiness"
	if cfg.Probe == nil || cfg.Logger == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "Probe and Logger are required")
	}
	c := &Check{cfg: cfg, failures: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rackboot_ready_probe_failures_total", Help: "Probes of the store that failed, or took longer than 2 s.",
	})}
	if cfg.Registerer == nil {
		return c, nil
	}
	gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "rackboot_ready", Help: "1 if the store was written and read when this was asked, within 2 s."}, func() float64 {
		if c.Ready(context.Background()) != nil {
			return 0
		}
		return 1
	})
	for _, m := range []prometheus.Collector{c.failures, gauge} {
		if err := cfg.Registerer.Register(m); err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, op, "cannot register metrics: %w", err)
		}
	}
	return c, nil
}

// Ready says why the daemon is not ready; nil if it is. Errors: those of the probe;
// unavailable if it takes too long; timeout if ctx ends first.
func (c *Check) Ready(ctx context.Context) error {
	const op = "check readiness"
	a := c.attempt()
	left := time.Until(a.began.Add(Within))
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-a.done:
		return a.err
	default:
	}
	select {
	case <-a.done:
		return a.err
	case <-timer.C:
		return protocol.Errorf(protocol.CodeUnavailable, op, "the store did not answer within %s", Within).
			WithHint("look at the daemon's log and at the disk of its data folder")
	case <-ctx.Done():
		return protocol.Errorf(protocol.CodeTimeout, op, "asked no longer: %w", context.Cause(ctx))
	}
}

// attempt is the one whose answer counts now; it begins one if there is none.
func (c *Check) attempt() *attempt {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.running != nil:
		return c.running
	case c.last != nil && time.Since(c.last.ended) < Fresh:
		// It has ended, so that it is in time whenever it began.
		return c.last
	}
	a := &attempt{began: time.Now(), done: make(chan struct{})}
	c.running = a
	go c.try(a)
	return a
}

func (c *Check) try(a *attempt) {
	ctx, cancel := context.WithTimeout(context.Background(), Within)
	defer cancel()
	a.err = c.cfg.Probe(ctx)
	c.mu.Lock()
	a.ended = time.Now()
	c.running, c.last = nil, a
	was := c.said
	c.said = a.err
	c.mu.Unlock()
	close(a.done)
	if a.err != nil {
		c.failures.Inc()
	}
	switch {
	case a.err != nil && was == nil:
		c.cfg.Logger.Error("not ready", "err", a.err, "hint", protocol.HintOf(a.err))
	case a.err == nil && was != nil:
		c.cfg.Logger.Info("ready again")
	}
}
