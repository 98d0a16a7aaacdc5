package groups

import (
	"log/slog"

	"rackboot/hub/conditions"
	"rackboot/hub/env"
	"rackboot/hub/events"
	"rackboot/hub/images"
	"rackboot/hub/revisions"
	"rackboot/hub/rollouts"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Objects   *store.Objects
	Secrets   *store.Secrets
	Sets      *store.Sets
	Revisions *revisions.Room
	Rollouts  *rollouts.Room
	Images    *images.Room
	Env       *env.Room
	Events    *events.Log
	Wake      *wake.Units
	// Trail reads the audit log; nil reads nothing.
	Trail Trail
	// ManagedBootImages says that catalogues of boot images are followed where people have opted in; without it
	// every group keeps the image that it has.
	ManagedBootImages bool

	Clock  state.Clock
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}

// Room has all groups. It is safe for concurrent use; one turn runs at a time.
type Room struct {
	cfg     Config
	groups  *groupBook
	conds   *conditions.Book // of groups
	metrics metrics
	asked   map[string]bool // askers of images, of the turn that runs
}

// New makes a Room that has looked at no group.
func New(cfg Config) *Room {
	return &Room{cfg: cfg, groups: newGroupBook(), conds: conditions.New(), metrics: newMetrics()}
}
