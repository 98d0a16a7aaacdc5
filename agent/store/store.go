package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/state"
)

// maxEvents bounds the events that wait for the hub; the oldest go first.
const maxEvents = 10_000

// Store is the agent's durable state. It is safe for concurrent use.
type Store struct {
	db          state.Store
	incarnation string
	crash       state.Crasher
	events      atomic.Uint64 // highest sequence given out
}

// Config is what a Store needs.
type Config struct {
	DB    state.Store
	NewID func() string // random; used once per database
	Crash state.Crasher // nil in production
}

// Open reads the database's identity, or gives it one.
func Open(cfg Config) (*Store, error) {
	s := &Store{db: cfg.DB, crash: cfg.Crash}
	err := s.db.Update(func(t state.Txn) error {
		v, err := t.Get("meta/incarnation")
		if errors.Is(err, state.ErrNotFound) {
			v = []byte(cfg.NewID())
			if err := t.Set("meta/incarnation", v); err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
		s.incarnation = string(v)
		last, _, err := get[uint64](t, "meta/acked")
		if err != nil {
			return err
		}
		if err := t.Scan("event/", func(key string, _ []byte) error {
			_, err := fmt.Sscanf(key, "event/%d", &last)
			return err
		}); err != nil {
			return err
		}
		s.events.Store(last)
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

// Incarnation tells this database from another that the same agent had before.
func (s *Store) Incarnation() string { return s.incarnation }

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
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, false, fmt.Errorf("key %s: %w", key, err)
	}
	return v, true, nil
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
		var v T
		if err := json.Unmarshal(raw, &v); err != nil {
			return fmt.Errorf("key %s: %w", key, err)
		}
		out = append(out, v)
		return nil
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
