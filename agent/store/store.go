package store

import (
	"encoding/json"
	"errors"
	"fmt"

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
	guard     func() bool
}

// Config is what a Store needs.
type Config struct {
	DB    state.Store
	NewID func() string // random; for the database and each renewal
	Crash state.Crasher // nil in production
	// Guarded says whether a destructive key is known now; nil is never.
	Guarded func() bool
}

// Open gives a new database its identity, and takes over one of the release before.
func Open(cfg Config) (*Store, error) {
	s := &Store{db: cfg.DB, crash: cfg.Crash, newID: cfg.NewID, maxEvents: maxEvents, guard: cfg.Guarded}
	err := s.db.Update(func(t state.Txn) error {
		if err := identify(t, cfg.NewID); err != nil {
			return err
		}
		if err := s.number(t); err != nil {
			return err
		}
		if err := adoptSegments(t); err != nil {
			return err
		}
		// A boot file that was being served when the agent died counts as fetched.
		return recoverRecords(t)
	})
	if err != nil {
		return nil, failing("open the agent's store", err)
	}
	return s, nil
}

func recoverRecords(t state.Txn) error {
	records, err := scan[decide.Record](t, "record/")
	if err != nil {
		return err
	}
	for _, r := range records {
		if err := put(t, "record/"+r.Server, decide.Recover(r)); err != nil {
			return err
		}
	}
	return nil
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

// deleteAll deletes every key with the prefix.
func deleteAll(t state.Txn, prefix string) error {
	var keys []string
	if err := t.Scan(prefix, func(key string, _ []byte) error {
		keys = append(keys, key)
		return nil
	}); err != nil {
		return err
	}
	for _, k := range keys {
		if err := t.Delete(k); err != nil {
			return err
		}
	}
	return nil
}
