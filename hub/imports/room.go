package imports

import (
	"rackboot/hub/claims"
	"rackboot/hub/groups"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Objects *store.Objects
	Sets    *store.Sets
	Claims  *claims.Room
	Groups  *groups.Room
	Wake    *wake.Units
	Clock   state.Clock
}

// Room keeps nothing but the store. It is safe for concurrent use.
type Room struct{ cfg Config }

// New makes a Room.
func New(cfg Config) *Room { return &Room{cfg: cfg} }
