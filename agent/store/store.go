package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"rackboot/protocol"
	"rackboot/protocol/decide"
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

// Open gives a new database its identity, and takes over one of the release before. It
// writes what is to change only. Nothing is served and nothing decided before it returns,
// and one that a crash has cut short is done again from the beginning.
func Open(cfg Config) (*Store, error) {
	return openInParts(cfg, partBytes)
}

func openInParts(cfg Config, bytes int) (*Store, error) {
	s := &Store{db: cfg.DB, crash: cfg.Crash, newID: cfg.NewID, maxEvents: maxEvents, partBytes: bytes, guard: cfg.Guarded}
	if err := s.open(); err != nil {
		return nil, failing("open the agent's store", err)
	}
	return s, nil
}

func (s *Store) open() error {
	err := s.updateInParts("agent.open.part", func(t state.Txn, cut func()) error {
		if err := identify(t, s.newID); err != nil {
			return err
		}
		if err := s.number(t); err != nil {
			return err
		}
		if err := adoptSegments(t); err != nil {
			return err
		}
		cut()
		return recoverRecords(t, cut)
	})
	if err != nil {
		return err
	}
	return s.readMirror()
}

// recoverRecords: a boot file that was being served when the agent died counts as
// fetched. Each record is complete in itself, and recovering it again changes nothing.
func recoverRecords(t state.Txn, cut func()) error {
	return t.Scan(keyRecords, func(key string, raw []byte) error {
		r, err := decode[decide.Record](key, raw)
		if err != nil {
			return err
		}
		after, changed := decide.Recover(r)
		if !changed {
			return nil
		}
		if err := put(t, key, after); err != nil {
			return err
		}
		cut()
		return nil
	})
}

func failing(op string, err error) error {
	if _, ok := errors.AsType[*protocol.Error](err); ok {
		return err
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).WithHint("check the disk of the agent's data folder")
}

func get[T any](t state.Txn, key string) (v T, found bool, err error) {
	raw, err := t.Get(key)
	if errors.Is(err, state.ErrNotFound) {
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	v, err = decode[T](key, raw)
	return v, err == nil, err
}

func decode[T any](key string, raw []byte) (v T, err error) {
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("key %s: %w", key, err)
	}
	return v, nil
}

func put(t state.Txn, key string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("key %s: %w", key, err)
	}
	return t.Set(key, raw)
}

func scan[T any](t state.Txn, prefix string) (out []T, err error) {
	err = t.Scan(prefix, func(key string, raw []byte) error {
		v, err := decode[T](key, raw)
		out = append(out, v)
		return err
	})
	return out, err
}
