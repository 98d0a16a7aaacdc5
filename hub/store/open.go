package store

import (
	"context"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"time"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/heads"
)

// rewatchAfter is the wait before a watch that ended early is opened again.
const rewatchAfter = time.Second

// Open loads the mirror. It fails with invalid for an incomplete Config, with
// unavailable if the key-value store cannot be read, and with internal if it
// holds something that this version cannot read.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	const op = "open store"
	if cfg.KV == nil || cfg.Log == nil || cfg.Clock == nil || cfg.NewID == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "KV, Log, Clock and NewID are required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Healthy == nil {
		cfg.Healthy = func() error { return nil }
	}
	s := newStore(cfg)
	for try := 1; ; try++ {
		err := s.load(ctx)
		switch {
		case err == nil:
			return s, nil
		case !s.core.again(ctx, err, try):
			return nil, err
		}
	}
}

// newStore makes the nouns, each above those that it needs.
func newStore(cfg Config) *Store {
	c := newCore(cfg)
	objects := &Objects{core: c, sets: newTurnstile()}
	holds := &Holds{core: c, objects: objects}
	secrets := &Secrets{c, objects, cfg.Vault, cfg.CheckIgnition}
	return &Store{
		core: c, Haste: c.haste, Objects: objects, Holds: holds, Secrets: secrets,
		Beside:  Beside{Uploaded{AgentPackages: &AgentPackages{c}, Contents: &Contents{c}, ISOs: &ISOs{c}, Repositories: &Repositories{c}}, Sharing{Hubs: &Hubs{c}, Units: &Units{c}}},
		Answers: &Answers{c}, Approvals: &Approvals{c}, BootImages: &BootImages{objects}, Claims: &Claims{c, objects, holds},
		Credentials: newCredentials(c), Envs: newEnvs(c), Ignitions: newIgnitions(c), Inventories: newInventories(c),
		Ledgers: &Ledgers{c, newDecoded()}, Log: &Log{c, cfg.Log}, Maintenances: &Maintenances{c, objects}, Meta: &Meta{c},
		Requests: newRequests(objects), Sets: &Sets{c, objects, holds, secrets, cfg.EnvRules},
	}
}

// load fills the mirror, and sees to it that each rule has its keys.
func (s *Store) load(ctx context.Context) error {
	const op = "open store"
	entries, revision, err := s.core.list(ctx)
	if err != nil {
		return stateError(op, err)
	}
	there, err := s.core.readEach(entries)
	if err != nil {
		return err
	}
	s.core.mirror.replace(there, revision)
	if s.Lost() != nil {
		return nil // what it would write follows from what is not there any more
	}
	if err := s.mend(ctx, entries); err != nil {
		return stateError(op, err)
	}
	return nil
}

// readEach decodes what a store had when it was opened, on all processors: a fleet of 50,000 servers waits for it. The first
// entry that cannot be read is the error.
func (co *core) readEach(entries []state.Entry) ([]cached, error) {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e state.Entry) bool { return aside(e.Key) })
	there, errs := make([]cached, len(entries)), make([]error, len(entries))
	var all sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		all.Go(func() {
			for i := len(entries) * w / workers; i < len(entries)*(w+1)/workers; i++ {
				there[i], errs[i] = co.read(entries[i])
			}
		})
	}
	all.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, errs[i]
	}
	return there, nil
}

// list is what whoever opens the store has listed, once, and else what the store lists.
func (co *core) list(ctx context.Context) ([]state.Entry, uint64, error) {
	if l := co.listed; l != nil {
		co.listed = nil
		return l.Entries, l.Revision, nil
	}
	return co.kv.List(ctx, "")
}

// Lost is what the store has lost; nil is nothing. Such a store is only read: what is not in it may have been.
func (s *Store) Lost() *heads.Loss { return s.core.lost.Load() }

// Lose notes that the store has lost something while it was open.
func (s *Store) Lose(l *heads.Loss) { s.core.lost.CompareAndSwap(nil, l) }

// Run applies the watch to the mirror until ctx ends, and returns nil then. A
// watch that breaks is opened again where it ended, and after a list of everything if it may have
// missed a deletion there. Run is called once.
func (s *Store) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := s.core.follow(ctx); err != nil && ctx.Err() == nil {
			s.core.logger.Warn("store watch ended", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(rewatchAfter):
		}
	}
	return nil
}

// Subscribe returns a channel that gets a value after any change, several
// changes in one, and a function that ends the subscription.
func (s *Store) Subscribe() (<-chan struct{}, func()) { return s.core.mirror.subscribe() }

// Deltas returns a subscription to every change from now on, and a function that ends it.
func (s *Store) Deltas() (d *Deltas, stop func()) {
	d = &Deltas{ready: make(chan struct{}, 1)}
	m := s.core.mirror
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deltas[d] = true
	return d, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.deltas, d)
	}
}

// Changes counts what has changed in what is read here since the store was opened; with a rack only what is of that
// rack, or of no rack or all. Whoever reads the count first, and then resources, has what is stored for as long as
// the count stays.
func (s *Store) Changes(rack string) uint64 {
	m := s.core.mirror
	m.mu.RLock()
	defer m.mu.RUnlock()
	if rack == "" {
		return m.changes
	}
	return max(m.touches.all, m.touches.racks[rack])
}
