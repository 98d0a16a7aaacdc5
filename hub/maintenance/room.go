package maintenance

import (
	"rackboot/hub/approvals"
	"rackboot/hub/conditions"
	"rackboot/hub/env"
	"rackboot/hub/events"
	"rackboot/hub/grants"
	"rackboot/hub/images"
	"rackboot/hub/inventory"
	"rackboot/hub/revisions"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Objects   *store.Objects
	Inventory *inventory.Room
	Images    *images.Room
	Env       *env.Room
	Grants    *grants.Room
	Revisions *revisions.Room
	Approvals *approvals.Room
	Events    *events.Log

	Clock state.Clock
	Crash state.Crasher // nil in production
}

// Room has the maintenances of all racks. It is safe for concurrent use; [Room.Turn] is for one at a time of each unit.
type Room struct {
	cfg   Config
	conds *conditions.Book // by name
}

// New makes a Room.
func New(cfg Config) *Room { return &Room{cfg: cfg, conds: conditions.New()} }

// Conditions are those of a maintenance, as its last turn found them.
func (r *Room) Conditions(maintenance string) []resource.ConditionState {
	return r.conds.Of(maintenance)
}

// Forget drops what is known of units that are no more.
func (r *Room) Forget(units map[string]bool) { r.conds.Forget(units) }
