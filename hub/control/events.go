package control

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/state"
)

// keptEvents bounds the events that are kept in memory for printing; the log has more.
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
	keeping sync.Mutex                             // one KeepEvents at a time
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
	return e, e.start(ctx, stored)
}

// start reads the end of the log, and what was filed of the stored holds before: up to where that was
// written down from there, and what comes after from the log.
func (e *events) start(ctx context.Context, stored map[string]bool) error {
	tail, err := e.control.cfg.Store.TailLog(ctx, eventSubject, keptEvents)
	if err != nil {
		return err
	}
	n, _, err := e.readNotes()
	if err != nil {
		return err
	}
	for id, codes := range n.Holds {
		for _, code := range codes {
			e.note(api.EventRecord{Agent: hubName, Event: protocol.Event{Code: code}, Target: &protocol.Target{Name: id}}, stored)
		}
	}
	if len(tail) == 0 {
		return nil
	}
	if newest := tail[len(tail)-1].Seq; newest < n.UpTo { // the log has lost its end, and somebody went on with what is left
		n.UpTo = 0
	}
	for at := n.UpTo + 1; at < tail[0].Seq && len(stored) > 0; {
		records, err := e.control.cfg.Store.ReadLog(ctx, eventSubject, at, 1000)
		if err != nil {
			return err
		}
		if len(records) == 0 {
			break
		}
		for _, r := range records {
			ev, err := eventOf(r)
			if err != nil {
				return err
			}
			e.note(ev, stored)
		}
		at = records[len(records)-1].Seq + 1
	}
	for _, r := range tail {
		ev, err := eventOf(r)
		if err != nil {
			return err
		}
		e.keep(ev)
		e.note(ev, stored)
	}
	return e.load(ctx, math.MaxUint64, stored)
}

func eventOf(r state.Record) (ev api.EventRecord, err error) {
	if err := json.Unmarshal(r.Data, &ev); err != nil {
		return ev, fmt.Errorf("event %d of the log: %w", r.Seq, err)
	}
	ev.Index = r.Seq
	return ev, nil
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
			ev, err := eventOf(r)
			if err != nil {
				return err
			}
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

// The log of events is cut off at its beginning, and a hub that starts does not read it from there.
// What events say of holds that are stored is needed for as long as these are: each is audited
// once. So it is written down, and no event goes before it is.

const (
	// notesName is where in the hub's own values it is.
	notesName = "event-notes"
	// notesEvery is how many events a hub that starts may have to read besides those that it keeps.
	notesEvery = keptEvents / 4
	// cutPages of cutPage events are looked at in one turn.
	cutPages, cutPage = 20, 1000
	// eventOverhead is what the store keeps with an event, in bytes, more or less.
	eventOverhead = 64
)

// notes are what events up to an Index say of the holds that were stored.
type notes struct {
	UpTo  uint64                          `json:"upTo"`
	Holds map[string][]protocol.EventCode `json:"holds"`
}

// readNotes reads what was written down; nothing if nothing was.
func (e *events) readNotes() (n notes, revision uint64, err error) {
	raw, revision, err := e.control.cfg.Store.Meta(notesName)
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

// writeNotes writes down what is known, if it is more than what was, or if it must be.
func (e *events) writeNotes(ctx context.Context, was notes, revision uint64, must bool) (notes, error) {
	e.taking.Lock() // what came into the ring has been noted
	e.mu.RLock()
	now := notes{UpTo: e.filed, Holds: map[string][]protocol.EventCode{}}
	for id, codes := range e.holds {
		now.Holds[id] = slices.Sorted(maps.Keys(codes))
	}
	e.mu.RUnlock()
	e.taking.Unlock()
	if now.UpTo < was.UpTo+notesEvery && (!must || now.UpTo <= was.UpTo) {
		return was, nil
	}
	raw, err := json.Marshal(now)
	if err == nil {
		err = e.control.cfg.Store.PutMeta(ctx, notesName, raw, revision)
	}
	if err != nil {
		return was, fmt.Errorf("write down what events said of holds: %w", err)
	}
	return now, nil
}

// KeepEvents cuts off the events that were filed before a time, and the oldest while the log has more than
// maxBytes; the newest stays. With the zero time it cuts off nothing, and only sees to it that the next
// start need not read all of them. The codes are those of the store.
func (c *Control) KeepEvents(ctx context.Context, before time.Time, maxBytes uint64) error {
	e := c.events
	e.keeping.Lock()
	defer e.keeping.Unlock()
	if c.fence.SteppedDown() {
		return nil
	}
	was, revision, err := e.readNotes()
	if err != nil {
		return err
	}
	var upTo uint64
	if !before.IsZero() {
		if upTo, err = e.old(ctx, before, maxBytes); err != nil {
			return err
		}
	}
	now, err := e.writeNotes(ctx, was, revision, upTo > was.UpTo)
	if err != nil {
		return err
	}
	if upTo = min(upTo, now.UpTo); upTo == 0 {
		return nil
	}
	return c.cfg.Store.CutLog(ctx, eventSubject, upTo)
}

// old is the Index up to which events are too old, or too many. What was filed before an old one is old
// too, whatever the clock said then.
func (e *events) old(ctx context.Context, before time.Time, maxBytes uint64) (upTo uint64, err error) {
	size, err := e.control.cfg.Store.LogSize(ctx)
	if err != nil {
		return 0, err
	}
	excess := size - min(size, maxBytes)
	at := uint64(1)
	for range cutPages {
		records, err := e.control.cfg.Store.ReadLog(ctx, eventSubject, at, cutPage)
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
