package store

import (
	"log/slog"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/heads"
)

// Listed is a list of everything, and the revision at which it was complete.
type Listed struct {
	Entries  []state.Entry
	Revision uint64
}

// Config is what a Store needs. All fields but Logger, Crash and Vault are required.
type Config struct {
	KV    state.KV
	Log   state.Log
	Clock state.Clock
	// NewID makes ULIDs; it must never return the same one twice.
	NewID  func() string
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
	// Healthy says why nothing can be written now, so that nothing waits for what will
	// not come; nil, or nil error, when it can. It must not wait.
	Healthy func() error
	// Listed is what KV has listed just before, so that it need not again; nil lists.
	Listed *Listed
	// Lost is what the store has lost, and then nothing is written to it; nil is nothing.
	Lost *heads.Loss
	// Vault encrypts Secrets; without it none can be written.
	Vault Vault
	// CheckIgnition says what is wrong with user data, in paths below $ and without a
	// value; nil takes any.
	CheckIgnition func(data []byte) protocol.FieldErrors
	// EnvRules judge boot environments and params; nil takes any.
	EnvRules EnvRules
}
