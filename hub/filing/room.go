package filing

import (
	"rackboot/hub/link"
	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Log     *store.Log
	Objects *store.Objects
	Link    *link.Room
	Reports *reports.Mirror
	Crash   state.Crasher // nil in production
}

// Room keeps nothing but the store. It is safe for concurrent use.
type Room struct{ cfg Config }

// New makes a Room.
func New(cfg Config) *Room { return &Room{cfg: cfg} }
