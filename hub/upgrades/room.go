package upgrades

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/conditions"
	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Reports are what agents say of themselves.
type Reports interface {
	// Agent is the newest report of an agent, and when it came.
	Agent(name string) (message.Report, time.Time, bool)
}

// Ledgers are what agents can do.
type Ledgers interface {
	Peek(agent string) (*store.Ledger, error)
}

// Files are the uploaded files.
type Files interface {
	// Has reports whether a content is there, whole and compared with its digest.
	Has(digest string) bool
}

// Events files what happens.
type Events interface {
	OwnOf(ctx context.Context, about resource.Target, server string, code resource.EventCode, message string)
}

// Config is what a Room is made of.
type Config struct {
	Objects  *store.Objects
	Packages *store.AgentPackages
	Ledgers  Ledgers
	Reports  Reports
	Files    Files // nil where no uploaded files are kept: then nothing is ordered
	Events   Events
	// Idle reports whether this hub is to do nothing, since another has taken its place; nil is never.
	Idle func() bool

	Clock  state.Clock
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}

// Room has all upgrades of agents. It is safe for concurrent use; one [Room.Turn] runs at a time.
type Room struct {
	cfg   Config
	conds *conditions.Book // of AgentUpgrades
	turn  sync.Mutex
	// moving is whether the last turn found a roll-out or an order under way; it is true before the first.
	moving atomic.Bool
	views  views
	counts counts
}

// New makes a Room that has looked at nothing.
func New(cfg Config) *Room {
	r := &Room{cfg: cfg, conds: conditions.New(), counts: newCounts()}
	r.moving.Store(true)
	return r
}

const (
	// lookEvery is how often it is looked at what agents say while something is under way, and restEvery while nothing is.
	lookEvery = 2 * time.Second
	restEvery = 15 * time.Second
)

// Run takes turns until ctx ends.
func (c *Room) Run(ctx context.Context) {
	for {
		pause := restEvery
		if c.moving.Load() {
			pause = lookEvery
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if c.cfg.Idle != nil && c.cfg.Idle() {
			continue
		}
		if err := c.Turn(store.Patient(ctx)); err != nil && ctx.Err() == nil {
			c.cfg.Logger.Warn("upgrades of agents did not get on", "err", err)
		}
	}
}

// event files what happened to an upgrade.
func (c *Room) event(ctx context.Context, u *resource.AgentUpgrade, format string, args ...any) {
	text := u.Metadata.Name + " " + fmt.Sprintf(format, args...)
	c.cfg.Logger.Info("upgrade of agents", "upgrade", u.Metadata.Name, "detail", text)
	c.cfg.Events.OwnOf(ctx, resource.TargetOf(u), "", resource.EventAgentUpgrade, text)
}

// Describe implements prometheus.Collector.
func (c *Room) Describe(ch chan<- *prometheus.Desc) { c.counts.describe(ch) }

// Collect implements prometheus.Collector.
func (c *Room) Collect(ch chan<- prometheus.Metric) { c.counts.collect(ch, c.views.all()) }
