package store

import (
	"errors"
	"fmt"

	"rackboot/protocol/resource"
	"rackboot/state"
)

// maxEvents bounds the events that wait for the hub. The oldest go first, and one
// record stands for them.
const maxEvents = 10_000

const (
	keyAcked = "meta/acked" // last number that was acknowledged
	keyLast  = "meta/event" // last number that was given
)

func eventKey(seq uint64) string { return fmt.Sprintf("event/%020d", seq) }

// Events wait for the hub.
type Events struct {
	disk *disk
	most int // that wait
}

// append gives an event its number and writes it, in the caller's transaction: an
// aborted one uses no number.
func (es *Events) append(t state.Txn, e resource.Event) error {
	last, _, err := get[uint64](t, keyLast)
	if err != nil {
		return err
	}
	e.Seq = last + 1
	if err := put(t, keyLast, e.Seq); err != nil {
		return err
	}
	if err := put(t, eventKey(e.Seq), e); err != nil {
		return err
	}
	if e.Seq <= uint64(es.most) {
		return nil
	}
	return es.lose(t, e.Seq-uint64(es.most), e)
}

func (es *Events) appendAll(t state.Txn, events []resource.Event) error {
	for _, e := range events {
		if err := es.append(t, e); err != nil {
			return err
		}
	}
	return nil
}

// lose drops the events up to seq, if they wait, and leaves one record of all that
// were ever lost in a row. It has the number of the last of them.
func (es *Events) lose(t state.Txn, seq uint64, cause resource.Event) error {
	acked, _, err := get[uint64](t, keyAcked)
	if err != nil || seq <= acked {
		return err
	}
	gap := resource.Event{At: cause.At, Code: resource.EventLost, From: acked + 1, Seq: seq}
	for {
		first, err := oldest(t)
		if err != nil {
			return err
		}
		if first == nil || first.Seq > seq {
			break
		}
		if first.Code == resource.EventLost {
			gap.From = first.From
		}
		if err := t.Delete(eventKey(first.Seq)); err != nil {
			return err
		}
	}
	gap.Message = fmt.Sprintf("%d events were lost", gap.Seq-gap.From+1)
	return put(t, eventKey(seq), gap)
}

// errEnough ends a scan that has what it wants.
var errEnough = errors.New("enough")

// waiting are up to limit events, oldest first.
func waiting(t state.Txn, limit int) (events []resource.Event, err error) {
	if limit <= 0 {
		return nil, nil
	}
	err = t.Scan("event/", func(key string, raw []byte) error {
		e, err := decode[resource.Event](key, raw)
		if err != nil {
			return err
		}
		if events = append(events, e); len(events) == limit {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return events, err
}

func oldest(t state.Txn) (*resource.Event, error) {
	events, err := waiting(t, 1)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	return &events[0], nil
}

// Append writes one event that belongs to no step.
func (es *Events) Append(e resource.Event) error {
	return es.disk.update(func(t state.Txn) error { return es.append(t, e) })
}

// Backlog is what waits for the hub.
type Backlog struct {
	Head uint64 // number of the last event of the incarnation
	Tail uint64 // number of the oldest that is not acknowledged; 0 if none waits
	// Events are the oldest, in order. The first may be the record of lost ones.
	Events []resource.Event
}

// Backlog reads up to limit events, at least one to know the tail.
func (es *Events) Backlog(limit int) (b Backlog, err error) {
	err = es.disk.db.View(func(t state.Txn) error {
		b = Backlog{}
		if b.Head, _, err = get[uint64](t, keyLast); err != nil {
			return err
		}
		if b.Events, err = waiting(t, max(1, limit)); err != nil || len(b.Events) == 0 {
			return err
		}
		b.Tail = b.Events[0].Seq
		if from := b.Events[0].From; from > 0 {
			b.Tail = from
		}
		return nil
	})
	return b, err
}

// Acknowledge forgets events up to seq. The last number is kept: a restart must
// not give out again what the hub has filed.
func (es *Events) Acknowledge(seq uint64) error {
	for more := true; more; {
		err := es.disk.update(func(t state.Txn) error {
			more = false
			first, err := waiting(t, deletesAtOnce)
			if err != nil {
				return err
			}
			acked := uint64(0)
			for _, e := range first {
				if e.Seq > seq {
					break
				}
				if err := t.Delete(eventKey(e.Seq)); err != nil {
					return err
				}
				acked = e.Seq
			}
			if acked == 0 {
				return nil
			}
			more = len(first) == deletesAtOnce && acked == first[len(first)-1].Seq
			return put(t, keyAcked, acked)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Began is the number of the last event before the first start since which no hub has
// answered. A disk that was rolled back is known by it, also where events of its own
// have filled it up again since, over any number of starts.
func (es *Events) Began() (seq uint64, err error) {
	err = es.disk.update(func(t state.Txn) error {
		began, known, err := get[uint64](t, keyBegan)
		if seq = began; err != nil || known {
			return err
		}
		if seq, _, err = get[uint64](t, keyLast); err != nil {
			return err
		}
		return put(t, keyBegan, seq)
	})
	return seq, err
}

// Met notes that a hub has answered. It comes before the first event is sent: what is
// acknowledged from then on is no sign of an older disk.
func (es *Events) Met() error {
	return es.disk.update(func(t state.Txn) error { return errors.Join(t.Delete(keyBegan), t.Delete(keyBeganHead)) })
}

// number finds the last number of a database that does not say it, or in which a
// release that did not write it has gone on since; and makes a record of events
// that such a release has dropped.
func (es *Events) number(t state.Txn) error {
	acked, _, err := get[uint64](t, keyAcked)
	if err != nil {
		return err
	}
	said, _, err := get[uint64](t, keyLast)
	if err != nil {
		return err
	}
	last := max(said, acked)
	first, err := oldest(t)
	if err != nil {
		return err
	}
	if err := t.Scan("event/", func(key string, raw []byte) error {
		e, err := decode[resource.Event](key, raw)
		last = max(last, e.Seq)
		return err
	}); err != nil {
		return err
	}
	if last != said {
		if err := put(t, keyLast, last); err != nil {
			return err
		}
	}
	if first != nil && first.From == 0 && first.Seq > acked+1 {
		return es.lose(t, first.Seq-1, *first)
	}
	return nil
}
