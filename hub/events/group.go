package events

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"rackboot/protocol/api"
	"rackboot/state"
)

// A record of the log has events that were filed at once: a disk that syncs a thousand records a second has many more
// events then. They are numbered through, from First.
//
// The release 0.1.0 has one event in a record, without a number; that is the record's own.

// group is what a record has.
type group struct {
	First  uint64 `json:"first"` // Index of the first event
	Events []part `json:"events"`
}

// part is one event of a group.
type part struct {
	ID    string          `json:"id"` // of who filed it; an event is filed once under it
	Event json.RawMessage `json:"event"`
}

// groupOf reads a record.
func groupOf(r state.Record) (g group, err error) {
	if err := json.Unmarshal(r.Data, &g); err != nil {
		return g, fmt.Errorf("record %d of the events: %w", r.Seq, err)
	}
	if len(g.Events) == 0 {
		g = group{First: r.Seq, Events: []part{{Event: r.Data}}}
	}
	return g, nil
}

// last is the Index of the last event.
func (g group) last() uint64 { return g.First + uint64(len(g.Events)) - 1 }

// event is one of them, by its place from 0.
func (g group) event(i int) (ev api.EventRecord, err error) {
	if err := json.Unmarshal(g.Events[i].Event, &ev); err != nil {
		return ev, fmt.Errorf("event %d: %w", g.First+uint64(i), err)
	}
	ev.Index = g.First + uint64(i)
	return ev, nil
}

// name names an event for good; see [Filed].
func (g group) name(i int) string {
	sum := sha256.Sum256(g.Events[i].Event)
	return fmt.Sprintf("%d-%x", g.First+uint64(i), sum[:8])
}
