package store

import (
	"fmt"

	"rackboot/protocol"
	"rackboot/state"
)

func eventKey(seq uint64) string { return fmt.Sprintf("event/%020d", seq) }

// append gives an event its number and writes it. An aborted transaction leaves
// a gap in the numbers, never a repetition.
func (s *Store) append(t state.Txn, e protocol.Event) error {
	e.Seq = s.events.Add(1)
	if e.Seq > maxEvents {
		if err := t.Delete(eventKey(e.Seq - maxEvents)); err != nil {
			return err
		}
	}
	return put(t, eventKey(e.Seq), e)
}

// Append writes one event that belongs to no step.
func (s *Store) Append(e protocol.Event) error {
	return s.db.Update(func(t state.Txn) error { return s.append(t, e) })
}

// Events are up to limit events that the hub has not acknowledged, oldest first.
func (s *Store) Events(limit int) (events []protocol.Event, head uint64, err error) {
	err = s.db.View(func(t state.Txn) error {
		all, err := scan[protocol.Event](t, "event/")
		events = all[:min(limit, len(all))]
		return err
	})
	return events, s.events.Load(), err
}

// Acknowledge forgets events up to seq. The last number is kept: a restart must
// not give out again what the hub has filed.
func (s *Store) Acknowledge(seq uint64) error {
	return s.db.Update(func(t state.Txn) error {
		events, err := scan[protocol.Event](t, "event/")
		if err != nil {
			return err
		}
		last := uint64(0)
		for _, e := range events {
			if e.Seq > seq {
				break
			}
			if err := t.Delete(eventKey(e.Seq)); err != nil {
				return err
			}
			last = e.Seq
		}
		if last == 0 {
			return nil
		}
		return put(t, "meta/acked", last)
	})
}
