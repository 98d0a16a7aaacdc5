package view

import (
	"rackboot/hub/env"
	"rackboot/hub/inventory"
	"rackboot/hub/link"
	"rackboot/hub/reports"
	"rackboot/hub/revisions"
	"rackboot/hub/store"
	"rackboot/state"
)

// Config is what a Reader is made of.
type Config struct {
	Store     *store.Store
	Reports   *reports.Mirror
	Link      *link.Room
	Inventory *inventory.Room
	Env       *env.Room
	Revisions *revisions.Room
	Clock     state.Clock
}

// Reader reads fleets. It keeps nothing, and is safe for concurrent use.
type Reader struct{ cfg Config }

// New makes a Reader.
func New(cfg Config) *Reader { return &Reader{cfg: cfg} }
