package store

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"rackboot/protocol"
	"rackboot/state"
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
	s := &Store{
		healthy: cfg.Healthy,
		kv:      cfg.KV, log: cfg.Log, clock: cfg.Clock, newID: cfg.NewID, logger: cfg.Logger, crash: cfg.Crash, vault: cfg.Vault,
		mirror: newMirror(), ledgers: newDecoded(), inventories: newInventories(),
		checkIgnition: cfg.CheckIgnition, envRules: cfg.EnvRules,
		sets: newTurnstile(), joint: joint{kv: cfg.KV},
	}
	s.sealed, s.envs, s.requests = s.sealedBook(), s.envBook(), s.requestBook()
	s.ignitions, s.formerIgnitions = s.ignitionBook(ignitionBucket), s.ignitionBook(formerBucket)
	for try := 1; ; try++ {
		err := s.load(ctx)
		switch {
		case err == nil:
			return s, nil
		case !s.again(ctx, err, try):
			return nil, err
		}
	}
}

// load fills the mirror, and sees to it that each rule has its keys.
func (s *Store) load(ctx context.Context) error {
	const op = "open store"
	entries, revision, err := s.kv.List(ctx, "")
	if err != nil {
		return stateError(op, err)
	}
	there := make([]cached, 0, len(entries))
	for _, e := range entries {
		if aside(e.Key) {
			continue
		}
		c, err := read(e)
		if err != nil {
			return err
		}
		there = append(there, c)
	}
	s.mirror.replace(there, revision)
	if err := s.mend(ctx, entries); err != nil {
		return stateError(op, err)
	}
	return nil
}

// Run applies the watch to the mirror until ctx ends, and returns nil then. A
// watch that breaks is opened again where it ended, and after a list of everything if it may have
// missed a deletion there. Run is called once.
func (s *Store) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := s.follow(ctx); err != nil && ctx.Err() == nil {
			s.logger.Warn("store watch ended", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(rewatchAfter):
		}
	}
	return nil
}

func (s *Store) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, err := s.kv.Watch(ctx, "", s.mirror.position())
	if errors.Is(err, state.ErrConflict) {
		changes, err = s.catchUp(ctx, err)
	}
	if err != nil {
		return err
	}
	s.following.Store(true)
	defer func() {
		s.following.Store(false)
		s.mirror.seen(0) // who waits for the watch looks again
	}()
	for change := range changes {
		var news []cached
		for _, e := range change {
			if !aside(e.Key) && !s.mirror.has(e.Key, e.Revision) { // else our own write: it is decoded already
				news = append(news, s.readLogged(e))
			}
		}
		s.mirror.applyWatched(news...)
		s.mirror.seen(change[len(change)-1].Revision)
	}
	return errors.New("watch channel was closed")
}

// catchUp lists again where a watch from the mirror's position is a conflict, and watches from there. A
// store that is older than the mirror was set back under a running hub, and is not taken for what is.
func (s *Store) catchUp(ctx context.Context, conflict error) (<-chan []state.Entry, error) {
	entries, revision, err := s.kv.List(ctx, "")
	if err != nil {
		return nil, err
	}
	if revision < s.mirror.position() {
		return nil, conflict
	}
	s.logger.Warn("the store was listed again: the watch may have missed deletions", "revision", revision)
	s.mirror.replace(s.readAll(entries), revision)
	return s.kv.Watch(ctx, "", revision)
}

// Subscribe returns a channel that gets a value after any change, several
// changes in one, and a function that ends the subscription.
func (s *Store) Subscribe() (<-chan struct{}, func()) { return s.mirror.subscribe() }

// Deltas returns a subscription to every change from now on, and a function that ends it.
func (s *Store) Deltas() (d *Deltas, stop func()) {
	d = &Deltas{ready: make(chan struct{}, 1)}
	m := s.mirror
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deltas[d] = true
	return d, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.deltas, d)
	}
}
