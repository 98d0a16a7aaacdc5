package trace

import (
	"rackboot/hub/link"
	"rackboot/hub/store"
)

// Config is what a Room is made of.
type Config struct {
	Objects *store.Objects
	Link    *link.Room
}

// Room keeps nothing. It is safe for concurrent use.
type Room struct{ cfg Config }

// New makes a Room.
func New(cfg Config) *Room { return &Room{cfg: cfg} }
