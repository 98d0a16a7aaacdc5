package store

import (
	"sync"

	"rackboot/state"
)

// Store is the agent's durable state. It is safe for concurrent use.
type Store struct {
	db        state.Store
	crash     state.Crasher
	newID     func() string
	maxEvents int
	partBytes int // of one transaction
	guard     func() bool
	// write is held by the one who writes, from the first transaction to the last.
	write  sync.Mutex
	mirror mirror
}

// Config is what a Store needs.
type Config struct {
	DB    state.Store
	NewID func() string // random; for the database and each renewal
	Crash state.Crasher // nil in production
	// Guarded says whether a destructive key is known now; nil is never.
	Guarded func() bool
}
