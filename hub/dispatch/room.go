package dispatch

import (
	"rackboot/hub/fence"
	"rackboot/hub/link"
	"rackboot/hub/requests"
	"rackboot/hub/store"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Ledgers  *store.Ledgers
	Objects  *store.Objects
	Start    *fence.Start
	Link     *link.Room
	Requests *requests.Room

	Clock state.Clock
	Crash state.Crasher // nil in production
}

// Room keeps nothing but the store. It is safe for concurrent use.
type Room struct{ cfg Config }

// New makes a Room.
func New(cfg Config) *Room { return &Room{cfg: cfg} }
