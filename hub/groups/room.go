// Package groups gives the members of server groups their boot images: it makes a group's revisions, rolls each out
// by waves, and says what its servers have booted.
//
// A turn looks at all groups. It alone gives seats of a roll-out, the first canary included; a rack's turn asks what
// its servers take and never chooses. A seat comes back only on a stored fact.
package groups

import (
	"context"
	"log/slog"
	"time"

	"rackboot/hub/conditions"
	"rackboot/hub/env"
	"rackboot/hub/events"
	"rackboot/hub/grants"
	"rackboot/hub/images"
	"rackboot/hub/inventory"
	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Store     *store.Store
	Images    *images.Room
	Env       *env.Room
	Grants    *grants.Room
	Inventory *inventory.Room
	Reports   *reports.Mirror
	Events    *events.Log
	Wake      *wake.Units
	// Trail reads the audit log; nil reads nothing.
	Trail Trail
	// ManagedBootImages says that catalogues of boot images are followed where people have opted in; without it
	// every group keeps the image that it has.
	ManagedBootImages bool
	// Version is the hub's own. What a server has booted counts for one version.
	Version string

	Clock  state.Clock
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}

// Room has all groups. It is safe for concurrent use; one turn runs at a time.
type Room struct {
	cfg          Config
	groups       *groupBook
	conds        *conditions.Book // of groups
	metrics      metrics
	versionSince time.Time // when this version of the hub was first started
}

// New makes a Room that has looked at no group. The codes are those of the store.
func New(ctx context.Context, cfg Config) (*Room, error) {
	c := &Room{cfg: cfg, groups: newGroupBook(), conds: conditions.New(), metrics: newMetrics()}
	var err error
	c.versionSince, err = c.takeVersion(ctx)
	return c, err
}
