package events

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"rackboot/hub/fence"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// The log of events is cut off at its beginning, and a hub that starts does not read it from there.
// What events say of holds that are stored is needed for as long as these are: each is audited
// once. So it is written down, and no event goes before it is.

const (
	// notesName is where in the hub's own values it is.
	notesName = "event-notes"
	// notesEvery is how many events a hub that starts may have to read besides those that it keeps.
	notesEvery = Kept / 4
	// cutPages of pageRecords records are looked at in one turn.
	cutPages = 200
	// recordOverhead is what the store keeps with a record, in bytes, more or less.
	recordOverhead = 64
)

// notes are what events up to an Index say of the holds that were stored.
type notes struct {
	UpTo  uint64                          `json:"upTo"`
	Seq   uint64                          `json:"seq,omitempty"` // of the record that has it
	Cut   uint64                          `json:"cut,omitempty"` // events up to it are cut off, or about to be
	Holds map[string][]resource.EventCode `json:"holds"`
}

// readNotes reads what was written down; nothing if nothing was.
func (l *Log) readNotes() (n notes, revision uint64, err error) {
	raw, revision, err := l.cfg.Store.Meta.Get(notesName)
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		return notes{}, 0, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &n)
	}
	if err != nil {
		return notes{}, 0, fmt.Errorf("what events said of holds: %w", err)
	}
	if n.Seq == 0 { // the release 0.1.0 has written it
		n.Seq = n.UpTo
	}
	return n, revision, nil
}

// writeNotes writes down what is known, if it is so much more than what was, or if events up to cut go.
func (l *Log) writeNotes(ctx context.Context, was notes, revision, cut uint64) (notes, error) {
	l.taking.Lock() // what came into the ring has been noted
	l.mu.RLock()
	now := notes{UpTo: l.filed, Seq: l.at, Cut: max(was.Cut, cut), Holds: map[string][]resource.EventCode{}}
	for id, codes := range l.holds {
		now.Holds[id] = slices.Sorted(maps.Keys(codes))
	}
	l.mu.RUnlock()
	l.taking.Unlock()
	now.Cut = min(now.Cut, now.UpTo)
	if now.UpTo < was.UpTo+notesEvery && now.Cut <= was.Cut {
		return was, nil
	}
	raw, err := json.Marshal(now)
	if err == nil {
		err = l.cfg.Store.Meta.Put(ctx, notesName, raw, revision)
	}
	if err != nil {
		return was, fmt.Errorf("write down what events said of holds: %w", err)
	}
	return now, nil
}

// Keep cuts off the events that were filed before a time, and the oldest while the log has more than
// maxBytes; the newest stays. With the zero time it cuts off nothing, and only sees to it that the next
// start need not read all of them. The codes are those of the store.
func (l *Log) Keep(ctx context.Context, before time.Time, maxBytes uint64) error {
	l.keeping.Lock()
	defer l.keeping.Unlock()
	if !l.cfg.Start.Works(fence.Site) {
		return nil
	}
	was, revision, err := l.readNotes()
	if err != nil {
		return err
	}
	var upTo place
	if !before.IsZero() {
		if upTo, err = l.old(ctx, before, maxBytes); err != nil {
			return err
		}
	}
	now, err := l.writeNotes(ctx, was, revision, upTo.index)
	if err != nil || upTo.index == 0 || upTo.index > now.Cut {
		return err
	}
	return l.cfg.Store.Log.Cut(ctx, eventSubject, upTo.seq)
}

// old is the last event that is too old, or one too many, and its record; the newest record is neither. What was filed
// before an old one is old too, whatever the clock said then.
func (l *Log) old(ctx context.Context, before time.Time, maxBytes uint64) (upTo place, err error) {
	size, err := l.cfg.Store.Log.Size(ctx)
	if err != nil {
		return place{}, err
	}
	l.mu.RLock()
	newest := l.at
	l.mu.RUnlock()
	excess := size - min(size, maxBytes)
	at := uint64(1)
	for range cutPages {
		records, err := l.cfg.Store.Log.Read(ctx, eventSubject, at, pageRecords)
		if err != nil || len(records) == 0 {
			return upTo, err
		}
		cut := false
		for _, r := range records {
			if (excess > 0 || r.At.Before(before)) && r.Seq < newest {
				g, err := groupOf(r)
				if err != nil {
					return place{}, err
				}
				upTo, cut = place{g.last(), r.Seq}, true
			}
			excess -= min(excess, uint64(len(r.Data)+recordOverhead))
		}
		if at = records[len(records)-1].Seq + 1; !cut || upTo.seq+1 < at {
			return upTo, nil
		}
	}
	return upTo, nil
}
