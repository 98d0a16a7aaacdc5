package approvals

import (
	"log/slog"
	"sync/atomic"
	"time"

	"rackboot/hub/approval"
	"rackboot/hub/events"
	"rackboot/hub/link"
	"rackboot/hub/reports"
	"rackboot/hub/rollouts"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Store *store.Store
	// Policy is who must grant what; Destructive the destructive key, nil without one.
	Policy      approval.Policy
	Destructive *approval.Key
	Link        *link.Room
	Rollouts    *rollouts.Room
	Reports     *reports.Mirror
	Events      *events.Log
	Wake        *wake.Units
	Began       time.Time // when this hub was started

	Clock  state.Clock
	NewID  func() string // ULIDs
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}

// Room has the approvals of all racks. It is safe for concurrent use.
type Room struct {
	cfg  Config
	ends atomic.Int64 // when the next wish is over, in ns; 0 if there is none
}

// New makes a Room.
func New(cfg Config) *Room { return &Room{cfg: cfg} }
