package grants

import (
	"crypto/ed25519"
	"log/slog"

	"rackboot/hub/events"
	"rackboot/hub/link"
	"rackboot/hub/store"
	"rackboot/protocol/wire"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Objects *store.Objects
	Signer  *wire.Signer
	// PastKeys are those that signed before Signer; what they signed and still counts is signed again.
	PastKeys []ed25519.PublicKey
	Link     *link.Room
	Events   *events.Log

	Clock  state.Clock
	NewID  func() string // ULIDs
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}

// Room keeps nothing but the store. It is safe for concurrent use.
type Room struct{ cfg Config }

// New makes a Room.
func New(cfg Config) *Room { return &Room{cfg: cfg} }
