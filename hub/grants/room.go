// Package grants makes the boot configurations of claims, maintenances and discoveries, each with the grant by
// which an agent may boot a server from the network.
//
// A configuration and its grant are one key of the store, written once. A grant names the owner, the server, the
// image and the generation; an agent uses it up.
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
	Store  *store.Store
	Signer *wire.Signer
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
