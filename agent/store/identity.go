package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/state"
)

const (
	keyIncarnation = "meta/incarnation"
	keyFence       = "meta/fence"
)

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

// Incarnation tells this database from another that the same agent had before.
func (s *Store) Incarnation() (id string, err error) {
	err = s.db.View(func(t state.Txn) error {
		id, err = incarnation(t)
		return err
	})
	return id, err
}

// Renew takes a new identity if the present one is was, because the hub has seen
// that the database is an older copy of itself: what it says is under way may have
// been done since. Requests end as unknown before it has the identity; the numbers of
// events go on. A renewal that a crash has cut short is asked for again.
func (s *Store) Renew(now time.Time, was string) error {
	s.crash.At("agent.renew.begin")
	err := s.updateInParts("agent.renew.part", func(t state.Txn, cut func()) error {
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
			if err := s.appendAll(t, happened); err != nil {
				return err
			}
			cut()
			return nil
		}); err != nil {
			return err
		}
		return t.Set(keyIncarnation, []byte(s.newID()))
	})
	if err != nil {
		return failing("take a new incarnation", err)
	}
	s.crash.At("agent.renew.renewed")
	return nil
}

// Fence is the highest that was followed.
func (s *Store) Fence() (f message.Fence, err error) {
	err = s.db.View(func(t state.Txn) error {
		f, _, err = get[message.Fence](t, keyFence)
		return err
	})
	return f, err
}

// Follow takes over a newer fence; another changes nothing.
func (s *Store) Follow(f message.Fence) error {
	return s.update(func(t state.Txn) error {
		have, _, err := get[message.Fence](t, keyFence)
		if err != nil || !f.Newer(have) {
			return err
		}
		return put(t, keyFence, f)
	})
}

// Errors of documents by their fence.
var (
	// ErrFenced: a hub signed it that another one has taken over from.
	ErrFenced = errors.New("is of a hub that another one has taken over from")
	// ErrAhead: a hub signed it that has not proved itself to this agent yet.
	ErrAhead = errors.New("is of a hub that has not answered this agent yet")
)

// admit compares a document's fence with the one followed. The first row that fits
// decides.
//
//	fence | answer
//	same  | take
//	lower | fenced
//	rival | fenced
//	newer | ahead
func admit(doc, have message.Fence) error {
	switch {
	case doc == have:
		return nil
	case doc.Newer(have):
		return ErrAhead
	default:
		return ErrFenced
	}
}
