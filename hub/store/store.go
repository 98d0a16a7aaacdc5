package store

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"rackboot/protocol"
	"rackboot/state"
)

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
	// Vault encrypts Secrets; without it none can be written.
	Vault Vault
	// CheckIgnition says what is wrong with user data, in paths below $ and without a
	// value; nil takes any.
	CheckIgnition func(data []byte) protocol.FieldErrors
	// EnvRules judge boot environments and params; nil takes any.
	EnvRules EnvRules
}

// Store is the hub's store. All methods are safe for concurrent use.
type Store struct {
	kv     state.KV
	log    state.Log
	clock  state.Clock
	newID  func() string
	logger *slog.Logger
	crash  state.Crasher
	vault  Vault
	mirror *mirror
	// following says that a watch brings what others write.
	following atomic.Bool

	healthy func() error

	checkIgnition func([]byte) protocol.FieldErrors
	envRules      EnvRules

	ledgers     *decoded
	inventories *inventories
	sealed      *book[Sealed]
	ignitions   *book[SealedIgnition]
	// formerIgnitions are of what configurations may return to.
	formerIgnitions *book[SealedIgnition]
	envs            *book[SealedEnv]
	requests        *book[StoredRequest]

	// sets has who has lost go alone, of those who write sets of resources.
	sets *turnstile
	// joint joins small commits.
	joint joint
	// Haste has background work give way to holds.
	Haste Haste
	// underway is what is being written of what a rack has room for.
	underway underway
}

// book is a bucket whose entries are decoded once for each revision, and shared by
// everybody who reads. It is safe for concurrent use.
type book[V any] struct {
	store    *Store
	bucket   string
	what     string // for messages
	decode   func([]byte) (*V, error)
	encode   func(*V) ([]byte, error)
	revision func(*V) *uint64 // for compare-and-set; 0 creates

	mu sync.RWMutex
	by map[string]*V
}
