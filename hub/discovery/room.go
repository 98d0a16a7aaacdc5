package discovery

import (
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/conditions"
	"rackboot/hub/env"
	"rackboot/hub/events"
	"rackboot/hub/grants"
	"rackboot/hub/images"
	"rackboot/hub/revisions"
	"rackboot/hub/store"
	"rackboot/hub/view"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Claims       *store.Claims
	Maintenances *store.Maintenances
	Objects      *store.Objects
	View         *view.Reader
	Images       *images.Room
	Env          *env.Room
	Grants       *grants.Room
	Revisions    *revisions.Room
	Events       *events.Log

	Clock  state.Clock
	NewID  func() string // ULIDs
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}

// Room has the discoveries of all racks. It is safe for concurrent use; [Room.Turn] is for one at a time of each unit.
type Room struct {
	cfg   Config
	conds *conditions.Book // by server
	ended *prometheus.CounterVec
}

// New makes a Room.
func New(cfg Config) *Room {
	r := &Room{cfg: cfg, conds: conditions.New(), ended: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_hub_discoveries_total", Help: "Discoveries of servers that ended, by result.",
	}, []string{"result"})}
	for _, result := range []string{resultDone, resultGivenUp} {
		r.ended.WithLabelValues(result)
	}
	return r
}

// Describe implements prometheus.Collector.
func (r *Room) Describe(ch chan<- *prometheus.Desc) { r.ended.Describe(ch) }

// Collect implements prometheus.Collector.
func (r *Room) Collect(ch chan<- prometheus.Metric) { r.ended.Collect(ch) }

// Conditions are those of a server whose discovery waits.
func (r *Room) Conditions(server string) []resource.ConditionState { return r.conds.Of(server) }

// Forget drops what is known of units that are no more.
func (r *Room) Forget(units map[string]bool) { r.conds.Forget(units) }
