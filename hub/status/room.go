package status

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/approvals"
	"rackboot/hub/claims"
	"rackboot/hub/discovery"
	"rackboot/hub/env"
	"rackboot/hub/fence"
	"rackboot/hub/groups"
	"rackboot/hub/images"
	"rackboot/hub/inventory"
	"rackboot/hub/link"
	"rackboot/hub/maintenance"
	"rackboot/hub/reports"
	"rackboot/hub/revisions"
	"rackboot/hub/store"
	"rackboot/hub/terms"
	"rackboot/hub/view"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Inventories *store.Inventories
	Ledgers     *store.Ledgers
	Objects     *store.Objects
	Start       *fence.Start
	View        *view.Reader
	Reports     *reports.Mirror
	Terms       *terms.Terms
	Link        *link.Room
	Inventory   *inventory.Room
	Images      *images.Room
	Env         *env.Room
	Revisions   *revisions.Room
	Groups      *groups.Room
	Approvals   *approvals.Room
	Claims      *claims.Room
	Maintenance *maintenance.Room
	Discovery   *discovery.Room
	Began       time.Time // when this hub was started
	Version     string    // the hub's own

	Clock state.Clock
}

// Room keeps nothing. It is safe for concurrent use.
type Room struct {
	cfg     Config
	metrics *metrics
}

// New makes a Room.
func New(cfg Config) *Room {
	r := &Room{cfg: cfg}
	r.metrics = newMetrics(r)
	return r
}

// Describe implements prometheus.Collector.
func (c *Room) Describe(ch chan<- *prometheus.Desc) { c.metrics.Describe(ch) }

// Collect implements prometheus.Collector.
func (c *Room) Collect(ch chan<- prometheus.Metric) { c.metrics.Collect(ch) }
