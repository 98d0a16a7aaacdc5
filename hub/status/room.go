package status

import (
	"time"

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
	"rackboot/hub/upgrades"
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
	Upgrades    *upgrades.Room
	Approvals   *approvals.Room
	Claims      *claims.Room
	Maintenance *maintenance.Room
	Discovery   *discovery.Room
	Began       time.Time // when this hub was started
	Version     string    // the hub's own

	Clock state.Clock
}

// Room keeps nothing. It is safe for concurrent use.
type Room struct{ cfg Config }

// New makes a Room.
func New(cfg Config) *Room { return &Room{cfg: cfg} }
