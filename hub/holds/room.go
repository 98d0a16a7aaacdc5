package holds

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/approvals"
	"rackboot/hub/events"
	"rackboot/hub/fence"
	"rackboot/hub/link"
	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Store     *store.Store
	Start     *fence.Start
	Link      *link.Room
	Reports   *reports.Mirror
	Approvals *approvals.Room
	Events    *events.Log
	Wake      *wake.Units
	Began     time.Time // when this hub was started

	Clock  state.Clock
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}

// Room has the holds of all racks. It is safe for concurrent use; [Room.Turn] is for one at a time of each rack.
type Room struct {
	cfg      Config
	enforced prometheus.Histogram
}

// New makes a Room.
func New(cfg Config) *Room {
	return &Room{cfg: cfg, enforced: prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "rackboot_hub_hold_enforced_seconds", Help: "Time from the acceptance of a hold to the acknowledgement of the document with which it is on the agent's disk.",
		Buckets: []float64{.025, .05, .1, .25, .5, 1, 2.5, 5, 15, 60, 300},
	})}
}

// Describe implements prometheus.Collector.
func (r *Room) Describe(ch chan<- *prometheus.Desc) { r.enforced.Describe(ch) }

// Collect implements prometheus.Collector.
func (r *Room) Collect(ch chan<- prometheus.Metric) { r.enforced.Collect(ch) }
