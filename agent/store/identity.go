package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"rackboot/protocol/decide"
	"rackboot/state"
)

const keyIncarnation = "meta/incarnation"

// incarnation reads the database's identity.
func incarnation(t state.Txn) (string, error) {
	v, err := t.Get(keyIncarnation)
	return string(v), err
}

// identify gives a new database its identity.
func identify(t state.Txn, id func() string) error {
	_, err := incarnation(t)
	if errors.Is(err, state.ErrNotFound) {
		return t.Set(keyIncarnation, []byte(id()))
	}
	return err
}

// Identity is the database's.
type Identity struct {
	disk   *disk
	events *Events
	newID  func() string
}

// Incarnation tells this database from another that the same agent had before.
func (i *Identity) Incarnation() (id string, err error) {
	err = i.disk.db.View(func(t state.Txn) error {
		id, err = incarnation(t)
		return err
	})
	return id, err
}

// Renew takes a new identity if the present one is was, because the hub has seen
// that the database is an older copy of itself: what it says is under way may have
// been done since. Requests end as unknown before it has the identity; the numbers of
// events go on. A renewal that a crash has cut short is asked for again.
func (i *Identity) Renew(now time.Time, was string) error {
	return i.become(now, was, i.newID, func(state.Txn) error { return nil })
}

// become is Renew with the identity that is taken, and what is written with it.
func (i *Identity) become(now time.Time, was string, id func() string, with func(state.Txn) error) error {
	i.disk.crash.At("agent.renew.begin")
	err := i.disk.updateInParts("agent.renew.part", func(t state.Txn, cut func()) error {
		have, err := incarnation(t)
		if err != nil || have != was {
			return err
		}
		if err := t.Scan(keyRecords, func(key string, raw []byte) error {
			r, err := decode[decide.Record](key, raw)
			if err != nil {
				return err
			}
			r, happened := decide.Renew(now, r)
			after, err := json.Marshal(r)
			if err != nil {
				return fmt.Errorf("key %s: %w", key, err)
			}
			if bytes.Equal(after, raw) {
				return nil
			}
			if err := t.Set(key, after); err != nil {
				return err
			}
			if err := i.events.appendAll(t, happened); err != nil {
				return err
			}
			cut()
			return nil
		}); err != nil {
			return err
		}
		if err := with(t); err != nil {
			return err
		}
		return t.Set(keyIncarnation, []byte(id()))
	})
	if err != nil {
		return failing("take a new incarnation", err)
	}
	i.disk.crash.At("agent.renew.renewed")
	return nil
}
