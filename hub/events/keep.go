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
	// cutPages of cutPage events are looked at in one turn.
	cutPages, cutPage = 20, 1000
	// eventOverhead is what the store keeps with an event, in bytes, more or less.
	eventOverhead = 64
)

// notes are what events up to an Index say of the holds that were stored.
type notes struct {
	UpTo  uint64                          `json:"upTo"`
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
	return n, revision, nil
}

// writeNotes writes down what is known, if it is so much more than what was, or if events up to cut go.
func (l *Log) writeNotes(ctx context.Context, was notes, revision, cut uint64) (notes, error) {
	l.taking.Lock() // what came into the ring has been noted
	l.mu.RLock()
	now := notes{UpTo: l.filed, Cut: max(was.Cut, cut), Holds: map[string][]resource.EventCode{}}
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
	var upTo uint64
	if !before.IsZero() {
		if upTo, err = l.old(ctx, before, maxBytes); err != nil {
			return err
		}
		if newest := l.Newest(); upTo >= newest { // which stays, and must not be written down as cut off
			upTo = max(newest, 1) - 1
		}
	}
	now, err := l.writeNotes(ctx, was, revision, upTo)
	if err != nil {
		return err
	}
	if upTo = min(upTo, now.UpTo); upTo == 0 {
		return nil
	}
	return l.cfg.Store.Log.Cut(ctx, eventSubject, upTo)
}

// old is the Index up to which events are too old, or too many. What was filed before an old one is old
// too, whatever the clock said then.
func (l *Log) old(ctx context.Context, before time.Time, maxBytes uint64) (upTo uint64, err error) {
	size, err := l.cfg.Store.Log.Size(ctx)
	if err != nil {
		return 0, err
	}
	excess := size - min(size, maxBytes)
	at := uint64(1)
	for range cutPages {
		records, err := l.cfg.Store.Log.Read(ctx, eventSubject, at, cutPage)
		if err != nil || len(records) == 0 {
			return upTo, err
		}
		for _, r := range records {
			if excess > 0 || r.At.Before(before) {
				upTo = r.Seq
			}
			excess -= min(excess, uint64(len(r.Data)+eventOverhead))
		}
		if at = records[len(records)-1].Seq + 1; upTo+1 < at {
			return upTo, nil
		}
	}
	return upTo, nil
}
