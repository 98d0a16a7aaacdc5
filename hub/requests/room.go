package requests

import (
	"time"

	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Requests *store.Requests
	Reports  *reports.Mirror
	Began    time.Time // when this hub was started
	Clock    state.Clock
}

// Room keeps nothing but the store. It is safe for concurrent use.
type Room struct{ cfg Config }

// New makes a Room.
func New(cfg Config) *Room { return &Room{cfg: cfg} }
