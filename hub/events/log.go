package events

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"

	"rackboot/hub/fence"
	"rackboot/hub/store"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Kept bounds the events that are kept in memory for printing; the log has more.
const Kept = 10_000

const eventSubject = "event"

// Config is what a Log is made of.
type Config struct {
	Store *store.Store
	Start *fence.Start
	// Audit is the audit log; nil is none.
	Audit  Recorder
	Clock  state.Clock
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}

// Log files events and keeps the newest for printing. It is safe for concurrent use.
type Log struct {
	cfg      Config
	metrics  metrics
	auditing *semaphore.Weighted // of one: a hold is audited once
	taking   sync.Mutex          // orders what comes into the ring
	at       uint64              // Seq of the newest record that came into the ring; of taking, and written with mu
	seen     seen                // of taking
	queueing sync.Mutex
	queue    []*waiting // what goes into the next records; of queueing
	filing   bool       // somebody writes them; of queueing
	mu       sync.RWMutex
	ring     []api.EventRecord                      // in order of Index, as they were filed
	places   places                                 // of the events in the ring
	filed    uint64                                 // all up to this Index of the log came into the ring
	holds    map[string]map[resource.EventCode]bool // what was filed of each hold that is stored
	keeping  sync.Mutex                             // one Keep at a time
}

// HubName is the agent of the hub's own events.
const HubName = "hub"

// auditCodes are the hub's own events of a hold.
var auditCodes = []resource.EventCode{resource.EventHoldAccepted, resource.EventHoldAdopted, resource.EventHoldConfirmed, resource.EventReleaseAccepted}

// Open reads the end of the log of events. The codes are those of the store.
func Open(ctx context.Context, cfg Config) (*Log, error) {
	l := &Log{cfg: cfg, auditing: semaphore.NewWeighted(1), metrics: newMetrics(), holds: map[string]map[resource.EventCode]bool{}}
	stored := map[string]bool{}
	for _, h := range store.List[*resource.Hold](cfg.Store.Objects) {
		stored[h.Metadata.Name] = true
	}
	return l, l.start(ctx, stored)
}

// start reads the end of the log, and what was filed of the stored holds before: up to where that was
// written down from there, and what comes after from the log.
func (l *Log) start(ctx context.Context, stored map[string]bool) error {
	tail, err := l.tail(ctx)
	if err != nil {
		return err
	}
	n, _, err := l.readNotes()
	if err != nil {
		return err
	}
	for id, codes := range n.Holds {
		for _, code := range codes {
			l.note(api.EventRecord{Agent: HubName, Event: resource.Event{Code: code}, Target: &resource.Target{Name: id}}, stored)
		}
	}
	if len(tail) == 0 {
		return nil
	}
	if newest := tail[len(tail)-1].Seq; newest < n.Seq { // the log has lost its end, and somebody went on with what is left
		n.Seq = 0
	}
	for at := n.Seq + 1; at < tail[0].Seq && len(stored) > 0; {
		records, err := l.cfg.Store.Log.Read(ctx, eventSubject, at, pageRecords)
		if err != nil {
			return err
		}
		if len(records) == 0 {
			break
		}
		for _, r := range records {
			_, events, err := eventsOf(r)
			if err != nil {
				return err
			}
			for _, ev := range events {
				l.note(ev, stored)
			}
		}
		at = records[len(records)-1].Seq + 1
	}
	if err := l.take(tail, stored); err != nil {
		return err
	}
	return l.load(ctx, stored)
}

// pageRecords is how many records are read at once. They have 256 KiB each at most.
const pageRecords = 100

// tail reads the newest records, until they have Kept events or are all.
func (l *Log) tail(ctx context.Context) ([]state.Record, error) {
	for limit := pageRecords; ; {
		records, err := l.cfg.Store.Log.Tail(ctx, eventSubject, limit)
		if err != nil || len(records) < limit || limit == Kept {
			return records, err
		}
		events := 0
		for _, r := range records {
			g, err := groupOf(r)
			if err != nil {
				return nil, err
			}
			events += len(g.Events)
		}
		if events >= Kept {
			return records, nil
		}
		limit = min(Kept, max(2*limit, limit*Kept/events+1))
	}
}

func eventsOf(r state.Record) (g group, events []api.EventRecord, err error) {
	if g, err = groupOf(r); err != nil {
		return g, nil, err
	}
	for i := range g.Events {
		ev, err := g.event(i)
		if err != nil {
			return g, nil, err
		}
		events = append(events, ev)
	}
	return g, events, nil
}

// load takes what the log has after the newest record that is known. The caller holds taking, or has the only reference.
func (l *Log) load(ctx context.Context, stored map[string]bool) error {
	for {
		records, err := l.cfg.Store.Log.Read(ctx, eventSubject, l.at+1, pageRecords)
		if err != nil || len(records) == 0 {
			return err
		}
		if err := l.take(records, stored); err != nil {
			return err
		}
	}
}

func (l *Log) take(records []state.Record, stored map[string]bool) error {
	for _, r := range records {
		g, events, err := eventsOf(r)
		if err != nil {
			return err
		}
		l.took(g, r.Seq, events)
		for _, ev := range events {
			l.note(ev, stored)
		}
	}
	return nil
}

// took takes the next record of the log. taking is held.
func (l *Log) took(g group, seq uint64, events []api.EventRecord) {
	for _, p := range g.Events {
		l.seen.add(p.ID)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.filed = seq, g.last()
	l.places = append(l.places, place{g.First, seq})
	l.ring = append(l.ring, events...)
	if len(l.ring) > Kept {
		l.ring = append([]api.EventRecord(nil), l.ring[len(l.ring)-Kept/2:]...)
		l.places = l.places.from(l.ring[0].Index)
	}
}

// Follow takes what other hubs have filed. The codes are those of the store.
func (l *Log) Follow(ctx context.Context) error {
	l.taking.Lock()
	defer l.taking.Unlock()
	return l.load(ctx, nil)
}

// note remembers what was filed of a hold; of those in only, if it is given.
func (l *Log) note(ev api.EventRecord, only map[string]bool) {
	if ev.Agent != HubName || ev.Target == nil || !slices.Contains(auditCodes, ev.Code) {
		return
	}
	id := ev.Target.Name
	if only != nil && !only[id] {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holds[id] == nil {
		l.holds[id] = map[resource.EventCode]bool{}
	}
	l.holds[id][ev.Code] = true
}

// Audited says whether the event of a hold was filed.
func (l *Log) Audited(code resource.EventCode, hold string) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.holds[hold][code]
}

// Forget keeps only what was filed of holds that are stored. One that is audited from
// now on and was forgotten is filed under the same id, which is once.
func (l *Log) Forget(there map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.holds, func(id string, _ map[resource.EventCode]bool) bool { return !there[id] })
}

// Own files an event of the hub itself, about a server or about nothing that has a name.
func (l *Log) Own(ctx context.Context, server string, code resource.EventCode, message string) {
	l.own(ctx, api.EventRecord{Event: resource.Event{Server: server, Code: code, Message: message}})
}

// AgentTarget is an agent as what an event is about.
func AgentTarget(name string) resource.Target {
	return resource.Target{Kind: resource.KindAgent, Name: name}
}

// OwnOf files one about an object. server is empty where it is about no server.
func (l *Log) OwnOf(ctx context.Context, about resource.Target, server string, code resource.EventCode, message string) {
	l.own(ctx, api.EventRecord{Event: resource.Event{Server: server, Code: code, Message: message}, Target: &about})
}

func (l *Log) own(ctx context.Context, ev api.EventRecord) {
	ev.At, ev.Agent = l.cfg.Clock(), HubName
	l.recordOwn(ctx, ev)
	if err := l.Add(ctx, Item{Event: ev}); err != nil {
		l.cfg.Logger.Warn("event not filed", "code", ev.Code, "err", err)
	}
}

// After returns up to limit events with an Index greater than after, in the order in which they
// were filed. Nothing comes later between those that were given and the newest of them; only
// who stays behind by more than Kept/2 misses some, which the log has.
func (l *Log) After(after uint64, limit int) []api.EventRecord {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var out []api.EventRecord
	for _, ev := range l.ring {
		if ev.Index > after && len(out) < limit {
			out = append(out, ev)
		}
	}
	return out
}
