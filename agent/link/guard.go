package link

import (
	"sync/atomic"

	"rackboot/agent/store"
)

// footing is what the agent stands on: its store, or in guard mode what was read of it last. It is
// safe for concurrent use.
type footing struct {
	store *store.Store
	guard func() bool
	told  atomic.Bool                   // whether the hub was told last that there is none
	last  atomic.Pointer[store.Applied] // that was read; nil before
}

func newFooting(cfg Config) *footing {
	f := &footing{store: cfg.Store, guard: cfg.Guard}
	f.told.Store(f.guards())
	return f
}

// guards says whether the agent has no store that it can write to.
func (f *footing) guards() bool { return f.guard != nil && f.guard() }

// turned says whether guard mode has begun or ended since this was asked last.
func (f *footing) turned() bool {
	now := f.guards()
	return f.told.Swap(now) != now
}

// applied is what is in force; in guard mode, where that cannot be read, what was read last.
func (f *footing) applied() (store.Applied, error) {
	in, err := f.store.Documents.Applied()
	if err == nil {
		f.last.Store(&in)
		return in, nil
	}
	if !f.guards() {
		return in, err
	}
	if last := f.last.Load(); last != nil {
		return *last, nil
	}
	return store.Applied{}, nil
}
