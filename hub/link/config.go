package link

import (
	"crypto/ed25519"
	"io"
	"log/slog"

	"rackboot/hub/events"
	"rackboot/hub/fence"
	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/hub/terms"
	"rackboot/hub/wake"
	"rackboot/protocol/wire"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Store  *store.Store
	Start  *fence.Start
	Signer *wire.Signer
	// PastKeys are those that signed before Signer.
	PastKeys []ed25519.PublicKey
	// Trust is the digest of what agents are told to trust; empty if there is none.
	Trust   string
	Terms   *terms.Terms
	Events  *events.Log
	Reports *reports.Mirror
	Wake    *wake.Units
	Heard   Heard
	// Publish sends to agents. What is lost is sent again.
	Publish func(topic string, payload []byte) error

	Clock  state.Clock
	NewID  func() string // ULIDs
	Random io.Reader
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}
