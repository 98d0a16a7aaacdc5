package control

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"rackboot/hub/store"
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
	ring    []api.EventRecord                      // in order of Index
	holds   map[string]map[protocol.EventCode]bool // what was filed of each hold that is stored
}

// hubName is the agent of the hub's own events.
const hubName = "hub"

// auditCodes are the hub's own events of a hold; its id begins their message.
func auditCodes() []protocol.EventCode {
	return []protocol.EventCode{protocol.EventHoldAccepted, protocol.EventHoldAdopted, protocol.EventHoldConfirmed, protocol.EventReleaseAccepted}
}

func loadEvents(ctx context.Context, c *Control) (*events, error) {
	e := &events{control: c, holds: map[string]map[protocol.EventCode]bool{}}
	stored := map[string]bool{}
	for _, h := range store.List[*protocol.Hold](c.cfg.Store) {
		stored[h.Metadata.Name] = true
	}
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
			e.note(ev, stored)
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
	e.note(ev, nil)
	return nil
}

// note remembers what was filed of a hold; of those in only, if it is given.
func (e *events) note(ev api.EventRecord, only map[string]bool) {
	if ev.Agent != hubName || !slices.Contains(auditCodes(), ev.Code) {
		return
	}
	id, _, _ := strings.Cut(ev.Message, " ")
	if only != nil && !only[id] {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.holds[id] == nil {
		e.holds[id] = map[protocol.EventCode]bool{}
	}
	e.holds[id][ev.Code] = true
}

// audited says whether the event of a hold was filed.
func (e *events) audited(code protocol.EventCode, hold string) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.holds[hold][code]
}

// forget keeps only what was filed of holds that are stored. One that is audited from
// now on and was forgotten is filed under the same id, which is once.
func (e *events) forget(there map[string]bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.holds, func(id string, _ map[protocol.EventCode]bool) bool { return !there[id] })
}

// own files an event of the hub itself.
func (e *events) own(ctx context.Context, server string, code protocol.EventCode, message string) {
	ev := protocol.Event{At: e.control.cfg.Clock(), Server: server, Code: code, Message: message}
	if err := e.add(ctx, api.EventRecord{Event: ev, Agent: hubName}, ""); err != nil {
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
