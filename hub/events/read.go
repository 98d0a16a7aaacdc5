package events

import (
	"context"
	"time"

	"rackboot/protocol/api"
)

// Filed is an event as the log has it.
type Filed struct {
	api.EventRecord
	// ID names the event for good. Its Index alone does not: a store that was put back from a copy gives an
	// Index again.
	ID string
	At time.Time // when it was filed, by the store's clock; the event's own is when it happened
}

// Newest is the Index of the newest event; 0 before the first.
func (l *Log) Newest() uint64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.filed
}

// Read reads up to limit events after an Index from the log, also those that are not kept for printing.
// The codes are unavailable and timeout.
func (l *Log) Read(ctx context.Context, after uint64, limit int) (out []Filed, err error) {
	at, err := l.seqOf(ctx, after)
	if err != nil {
		return nil, err
	}
	for len(out) < limit {
		records, err := l.cfg.Store.Log.Read(ctx, eventSubject, at, min(limit-len(out), pageRecords))
		if err != nil {
			return nil, err
		}
		if len(records) == 0 {
			break
		}
		for _, r := range records {
			g, err := groupOf(r)
			if err != nil {
				return nil, err
			}
			for i := range g.Events {
				if g.First+uint64(i) <= after || len(out) == limit {
					continue
				}
				ev, err := g.event(i)
				if err != nil {
					return nil, err
				}
				out = append(out, Filed{EventRecord: ev, ID: g.name(i), At: r.At})
			}
		}
		at = records[len(records)-1].Seq + 1
	}
	return out, nil
}

// CutUpTo is the Index up to which events may have been cut off, as it was last written down; 0 for none.
func (l *Log) CutUpTo() (uint64, error) {
	n, _, err := l.readNotes()
	return n.Cut, err
}
