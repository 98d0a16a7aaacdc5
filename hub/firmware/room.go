package firmware

import (
	"log/slog"
	"sync/atomic"

	"rackboot/hub/events"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Objects *store.Objects
	Events  *events.Log
	Wake    *wake.Units

	Clock  state.Clock
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}

// Room has the marks of all servers. It is safe for concurrent use; [Room.Turn] is for one at a time.
type Room struct {
	cfg  Config
	ends atomic.Int64 // when the next mark is over, in ns; 0 if there is none
}

// New makes a Room.
func New(cfg Config) *Room { return &Room{cfg: cfg} }
