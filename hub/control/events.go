package control

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"rackboot/protocol"
	"rackboot/protocol/api"
)

// keptEvents bounds the events that are kept in memory for printing; all of them
// are in the log.
const keptEvents = 10_000

const eventSubject = "event"

// events files events and keeps the newest for printing.
type events struct {
	control *Control
	mu      sync.RWMutex
	ring    []api.EventRecord // in order of Index
}

func loadEvents(ctx context.Context, c *Control) (*events, error) {
	e := &events{control: c}
	for from := uint64(1); ; {
		records, err := c.cfg.Store.ReadLog(ctx, eventSubject, from, 1000)
		if err != nil {
			return nil, err
		}
		if len(records) == 0 {
			return e, nil
		}
		for _, r := range records {
			var ev api.EventRecord
			if err := json.Unmarshal(r.Data, &ev); err != nil {
				return nil, fmt.Errorf("event %d of the log: %w", r.Seq, err)
			}
			ev.Index = r.Seq
			e.keep(ev)
			from = r.Seq + 1
		}
	}
}

func (e *events) keep(ev api.EventRecord) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.ring); n > 0 && e.ring[n-1].Index >= ev.Index {
		return // filed before
	}
	e.ring = append(e.ring, ev)
	if len(e.ring) > keptEvents {
		e.ring = append([]api.EventRecord(nil), e.ring[len(e.ring)-keptEvents/2:]...)
	}
}

func (e *events) add(ctx context.Context, ev api.EventRecord, id string) error {
	raw, err := json.Marshal(ev)
	if err != nil {
		return err
	}
	seq, err := e.control.cfg.Store.Append(ctx, eventSubject, raw, id)
	if err != nil {
		return err
	}
	ev.Index = seq
	e.keep(ev)
	return nil
}

// own files an event of the hub itself.
func (e *events) own(ctx context.Context, server string, code protocol.EventCode, message string) {
	ev := protocol.Event{At: e.control.cfg.Clock(), Server: server, Code: code, Message: message}
	if err := e.add(ctx, api.EventRecord{Event: ev, Agent: "hub"}, ""); err != nil {
		e.control.log.Warn("event not filed", "code", code, "err", err)
	}
}

// Events are up to limit events with an Index greater than after.
func (c *Control) Events(after uint64, limit int) []api.EventRecord {
	e := c.events
	e.mu.RLock()
	defer e.mu.RUnlock()
	var out []api.EventRecord
	for _, ev := range e.ring {
		if ev.Index > after && len(out) < limit {
			out = append(out, ev)
		}
	}
	return out
}
