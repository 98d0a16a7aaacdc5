package store

import (
	"log/slog"
	"sync/atomic"

	"rackboot/protocol/resource"
	"rackboot/state"
)

// core is what all nouns share: the key-value store and its mirror, the clock, and the ways to
// write one key or several.
type core struct {
	kv     state.KV
	clock  state.Clock
	newID  func() string
	logger *slog.Logger
	crash  state.Crasher
	mirror *mirror
	// healthy says why nothing can be written now.
	healthy func() error
	// following says that a watch brings what others write.
	following atomic.Bool
	// joint joins small commits.
	joint joint
	haste *Haste
}

func newCore(cfg Config) *core {
	return &core{
		kv: cfg.KV, clock: cfg.Clock, newID: cfg.NewID, logger: cfg.Logger, crash: cfg.Crash, healthy: cfg.Healthy,
		mirror: newMirror(), joint: joint{kv: cfg.KV}, haste: &Haste{},
	}
}

// shared is Peek for any kind; nil if there is none.
func (co *core) shared(kind resource.Kind, name string) resource.Object {
	e, _ := co.mirror.get(keyOf(kind, name))
	return e.obj
}
