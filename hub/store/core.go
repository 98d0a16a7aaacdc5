package store

import (
	"log/slog"
	"sync/atomic"

	"rackboot/hub/once"
	"rackboot/protocol/resource"
	"rackboot/state"
	"rackboot/state/heads"
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
	// able says why nothing can be written now; ask healthy.
	able func() error
	// lost is what the store has lost; nil is nothing.
	lost atomic.Pointer[heads.Loss]
	// listed is what was listed before the store was opened; nil once it was used.
	listed *Listed
	// several says that other hubs write besides: one key is never newer here than the rest.
	several atomic.Bool
	// following says that a watch brings what others write.
	following atomic.Bool
	// joint joins small commits.
	joint joint
	haste *Haste
	// said has what resources have in common.
	said *once.Table
}

func newCore(cfg Config) *core {
	c := &core{
		kv: cfg.KV, clock: cfg.Clock, newID: cfg.NewID, logger: cfg.Logger, crash: cfg.Crash, able: cfg.Healthy, listed: cfg.Listed,
		mirror: newMirror(), joint: joint{kv: cfg.KV}, haste: &Haste{}, said: once.New(),
	}
	c.lost.Store(cfg.Lost)
	return c
}

// healthy says why nothing can be written now.
func (co *core) healthy() error {
	if l := co.lost.Load(); l != nil {
		return l.Err("write to the store")
	}
	return co.able()
}

// shared is Peek for any kind; nil if there is none.
func (co *core) shared(kind resource.Kind, name string) resource.Object {
	return co.mirror.object(kind, name)
}

// alone reports whether no other hub writes the store.
func (co *core) alone() bool { return !co.several.Load() }
