package terms

import (
	"log/slog"

	"rackboot/hub/store"
	"rackboot/protocol/wire"
	"rackboot/state"
)

// Terms are those of all agents. It keeps nothing but the store, and is safe for concurrent use.
type Terms struct {
	meta    *store.Meta
	objects *store.Objects
	signer  *wire.Signer
	log     *slog.Logger
	crash   state.Crasher
}

// New returns the terms of a store. signer signs the last word of those that are over.
func New(s *store.Store, signer *wire.Signer, log *slog.Logger, crash state.Crasher) *Terms {
	return &Terms{meta: s.Meta, objects: s.Objects, signer: signer, log: log, crash: crash}
}
