package revisions

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/env"
	"rackboot/hub/events"
	"rackboot/hub/images"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Meta    *store.Meta
	Objects *store.Objects
	Secrets *store.Secrets
	Images  *images.Room
	Env     *env.Room
	Events  *events.Log
	// Version is the hub's own. What a server has booted counts for one version.
	Version string

	Clock  state.Clock
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}

// Room has the histories of all groups. It is safe for concurrent use but for what takes a [Pass], of which
// one is made at a time.
type Room struct {
	cfg          Config
	made         *prometheus.CounterVec
	versionSince time.Time             // when this version of the hub was first started
	opened       map[string]bootedPage // by server
	places       places
}

// New makes a Room. The codes are those of the store.
func New(ctx context.Context, cfg Config) (*Room, error) {
	r := &Room{cfg: cfg, opened: map[string]bootedPage{}, places: places{by: map[string]dealt{}}, made: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_hub_group_revisions_total", Help: "Revisions of server groups that were made, by cause.",
	}, []string{"cause"})}
	for _, cause := range resource.RevisionCauses() {
		r.made.WithLabelValues(string(cause))
	}
	var err error
	r.versionSince, err = r.takeVersion(ctx)
	return r, err
}

// Describe implements prometheus.Collector.
func (c *Room) Describe(ch chan<- *prometheus.Desc) { c.made.Describe(ch) }

// Collect implements prometheus.Collector.
func (c *Room) Collect(ch chan<- prometheus.Metric) { c.made.Collect(ch) }
