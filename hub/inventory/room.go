package inventory

import (
	"log/slog"
	"time"

	"rackboot/hub/conditions"
	"rackboot/hub/events"
	"rackboot/hub/link"
	"rackboot/hub/reports"
	"rackboot/hub/sealing"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Store   *store.Store
	Link    *link.Room
	Reports *reports.Mirror
	Events  *events.Log
	Wake    *wake.Units
	Vault   sealing.Vault // nil where no Secrets are used
	Seals   sealing.Count
	Began   time.Time // when this hub was started
	Clock   state.Clock
	NewID   func() string // ULIDs
	Logger  *slog.Logger
	Crash   state.Crasher // nil in production
}

// Room has the BMCs of all racks. It is safe for concurrent use.
type Room struct {
	cfg                               Config
	readings                          *readings
	found                             *foundBook
	shared                            *shared
	bmcConds, serverConds, agentConds *conditions.Book // by name
}

// New makes a Room that has read no BMC.
func New(cfg Config) *Room {
	return &Room{cfg: cfg, readings: newReadings(), found: newFoundBook(), shared: &shared{cfg.Store, cfg.Logger}, bmcConds: conditions.New(), serverConds: conditions.New(), agentConds: conditions.New()}
}
