package control

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
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
	taking  sync.Mutex // orders what comes into the ring
	mu      sync.RWMutex
	ring    []api.EventRecord                      // in order of Index, as they were filed
	filed   uint64                                 // all up to this Index of the log came into the ring
	holds   map[string]map[protocol.EventCode]bool // what was filed of each hold that is stored
}

// hubName is the agent of the hub's own events.
const hubName = "hub"

// auditCodes are the hub's own events of a hold.
func auditCodes() []protocol.EventCode {
	return []protocol.EventCode{protocol.EventHoldAccepted, protocol.EventHoldAdopted, protocol.EventHoldConfirmed, protocol.EventReleaseAccepted}
}

func loadEvents(ctx context.Context, c *Control) (*events, error) {
	e := &events{control: c, holds: map[string]map[protocol.EventCode]bool{}}
	stored := map[string]bool{}
	for _, h := range store.List[*protocol.Hold](c.cfg.Store) {
		stored[h.Metadata.Name] = true
	}
	return e, e.load(ctx, math.MaxUint64, stored)
}

// load takes what the log has after the newest that is known, up to an index at least. The
// caller holds taking, or has the only reference.
func (e *events) load(ctx context.Context, upTo uint64, stored map[string]bool) error {
	for e.filed < upTo {
		records, err := e.control.cfg.Store.ReadLog(ctx, eventSubject, e.filed+1, 1000)
		if err != nil {
			return err
		}
		if len(records) == 0 {
			return nil
		}
		for _, r := range records {
			var ev api.EventRecord
			if err := json.Unmarshal(r.Data, &ev); err != nil {
				return fmt.Errorf("event %d of the log: %w", r.Seq, err)
			}
			ev.Index = r.Seq
			e.keep(ev)
			e.note(ev, stored)
		}
	}
	return nil
}

// keep appends the next event of the log.
func (e *events) keep(ev api.EventRecord) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.filed = ev.Index
	e.ring = append(e.ring, ev)
	if len(e.ring) > keptEvents {
		e.ring = append([]api.EventRecord(nil), e.ring[len(e.ring)-keptEvents/2:]...)
	}
}

// add files an event. It is shown only after all that the log has before it, so that who asks
// for what comes after an event never misses one: of two that are filed at once the later one
// may be known first, and one whose filing seemed to fail may be there.
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
	e.note(ev, nil)
	e.taking.Lock()
	defer e.taking.Unlock()
	switch {
	case seq <= e.filed: // another one has brought it, or it was filed before
		return nil
	case seq == e.filed+1:
		e.keep(ev)
		return nil
	}
	return e.load(ctx, seq, nil)
}

// note remembers what was filed of a hold; of those in only, if it is given.
func (e *events) note(ev api.EventRecord, only map[string]bool) {
	if ev.Agent != hubName || ev.Target == nil || !slices.Contains(auditCodes(), ev.Code) {
		return
	}
	id := ev.Target.Name
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

// own files an event of the hub itself, about a server or about nothing that has a name.
func (e *events) own(ctx context.Context, server string, code protocol.EventCode, message string) {
	e.file(ctx, api.EventRecord{Event: protocol.Event{Server: server, Code: code, Message: message}})
}

// agentTarget is an agent as what an event is about.
func agentTarget(name string) protocol.Target {
	return protocol.Target{Kind: protocol.KindAgent, Name: name}
}

// ownOf files one about an object. server is empty where it is about no server.
func (e *events) ownOf(ctx context.Context, about protocol.Target, server string, code protocol.EventCode, message string) {
	e.file(ctx, api.EventRecord{Event: protocol.Event{Server: server, Code: code, Message: message}, Target: &about})
}

func (e *events) file(ctx context.Context, ev api.EventRecord) {
	ev.At, ev.Agent = e.control.cfg.Clock(), hubName
	e.control.recordOwn(ctx, ev)
	if err := e.add(ctx, ev, ""); err != nil {
		e.control.log.Warn("event not filed", "code", ev.Code, "err", err)
	}
}

// Events are up to limit events with an Index greater than after, in the order in which they
// were filed. Nothing comes later between those that were given and the newest of them; only
// who stays behind by more than keptEvents/2 misses some, which the log has.
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
