package rollouts

import (
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/grants"
	"rackboot/hub/inventory"
	"rackboot/hub/plan/rollout"
	"rackboot/hub/reports"
	"rackboot/hub/revisions"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Approvals *store.Approvals
	Objects   *store.Objects
	Requests  *store.Requests
	Revisions *revisions.Room
	Grants    *grants.Room
	Inventory *inventory.Room
	Reports   *reports.Mirror
	Wake      *wake.Units

	Clock  state.Clock
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}

// Room has the roll-outs of all groups. It is safe for concurrent use; [Room.Roll] is called from one turn at a time,
// between [Room.Begin] and [Room.End].
type Room struct {
	cfg            Config
	waits          *waits
	ended, ordered *prometheus.CounterVec
}

// New makes a Room.
func New(cfg Config) *Room {
	r := &Room{
		cfg: cfg, waits: newWaits(),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_rollouts_ended_total", Help: "Roll-outs of server groups that have ended, by phase.",
		}, []string{"phase"}),
		ordered: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_rollout_orders_total", Help: "Orders of roll-outs that were recorded, by kind.",
		}, []string{"kind"}),
	}
	for _, k := range []rollout.OrderKind{rollout.OrderReboot, rollout.OrderReprovision, rollout.OrderReturn} {
		r.ordered.WithLabelValues(string(k))
	}
	for _, p := range resource.RolloutPhases() {
		if p.Over() && p != resource.RolloutSuperseded && p != resource.RolloutAborted {
			r.ended.WithLabelValues(string(p))
		}
	}
	return r
}

// Begin begins a turn of groups.
func (c *Room) Begin() { c.waits.begin() }

// End ends a turn of groups, and wakes the racks of the servers for which another approval is waited for than before.
func (c *Room) End() {
	for _, server := range c.waits.end() {
		c.cfg.Wake.Server(server)
	}
}

// Describe implements prometheus.Collector.
func (c *Room) Describe(ch chan<- *prometheus.Desc) {
	c.ended.Describe(ch)
	c.ordered.Describe(ch)
}

// Collect implements prometheus.Collector.
func (c *Room) Collect(ch chan<- prometheus.Metric) {
	c.ended.Collect(ch)
	c.ordered.Collect(ch)
}
