// Package terms knows which agent serves a rack. Each agent that joins a rack has its own term there; a term
// that is over is never given again, and how it ended is kept for ever.
package terms

import (
	"log/slog"

	"rackboot/hub/store"
	"rackboot/protocol/wire"
	"rackboot/state"
)

// Terms are those of all agents. It keeps nothing but the store, and is safe for concurrent use.
type Terms struct {
	store  *store.Store
	signer *wire.Signer
	log    *slog.Logger
	crash  state.Crasher
}

// New returns the terms of a store. signer signs the last word of those that are over.
func New(s *store.Store, signer *wire.Signer, log *slog.Logger, crash state.Crasher) *Terms {
	return &Terms{store: s, signer: signer, log: log, crash: crash}
}
