package events

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
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
	releases *prometheus.CounterVec
	auditing *semaphore.Weighted // of one: a hold is audited once
	taking   sync.Mutex          // orders what comes into the ring
	ahead    map[uint64]early    // by Index, what was filed before what comes before it is known; of taking
	mu       sync.RWMutex
	ring     []api.EventRecord                      // in order of Index, as they were filed
	filed    uint64                                 // all up to this Index of the log came into the ring
	holds    map[string]map[resource.EventCode]bool // what was filed of each hold that is stored
	keeping  sync.Mutex                             // one Keep at a time
}

// early is an event that was filed, and is shown once those before it are known: then known is closed.
type early struct {
	ev    api.EventRecord
	known chan struct{}
}

// earlyWait is how long the filer of an event waits for those before it, which are mostly being filed by others just now.
// What was filed by another hub, or seemed to fail, is read from the log.
const earlyWait = 20 * time.Millisecond

// HubName is the agent of the hub's own events.
const HubName = "hub"

// auditCodes are the hub's own events of a hold.
var auditCodes = []resource.EventCode{resource.EventHoldAccepted, resource.EventHoldAdopted, resource.EventHoldConfirmed, resource.EventReleaseAccepted}

// Open reads the end of the log of events. The codes are those of the store.
func Open(ctx context.Context, cfg Config) (*Log, error) {
	l := &Log{cfg: cfg, auditing: semaphore.NewWeighted(1), releases: newReleases(), holds: map[string]map[resource.EventCode]bool{}, ahead: map[uint64]early{}}
	stored := map[string]bool{}
	for _, h := range store.List[*resource.Hold](cfg.Store.Objects) {
		stored[h.Metadata.Name] = true
	}
	return l, l.start(ctx, stored)
}

// start reads the end of the log, and what was filed of the stored holds before: up to where that was
// written down from there, and what comes after from the log.
func (l *Log) start(ctx context.Context, stored map[string]bool) error {
	tail, err := l.cfg.Store.Log.Tail(ctx, eventSubject, Kept)
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
	if newest := tail[len(tail)-1].Seq; newest < n.UpTo { // the log has lost its end, and somebody went on with what is left
		n.UpTo = 0
	}
	for at := n.UpTo + 1; at < tail[0].Seq && len(stored) > 0; {
		records, err := l.cfg.Store.Log.Read(ctx, eventSubject, at, 1000)
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
			l.note(ev, stored)
		}
		at = records[len(records)-1].Seq + 1
	}
	for _, r := range tail {
		ev, err := eventOf(r)
		if err != nil {
			return err
		}
		l.keep(ev)
		l.note(ev, stored)
	}
	return l.load(ctx, math.MaxUint64, stored)
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
func (l *Log) load(ctx context.Context, upTo uint64, stored map[string]bool) error {
	for l.filed < upTo {
		records, err := l.cfg.Store.Log.Read(ctx, eventSubject, l.filed+1, 1000)
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
			l.keep(ev)
			l.note(ev, stored)
		}
	}
	return nil
}

// keep appends the next event of the log.
func (l *Log) keep(ev api.EventRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.filed = ev.Index
	l.ring = append(l.ring, ev)
	if len(l.ring) > Kept {
		l.ring = append([]api.EventRecord(nil), l.ring[len(l.ring)-Kept/2:]...)
	}
}

// Add files an event. It is shown only after all that the log has before it, so that who asks
// for what comes after an event never misses one: of two that are filed at once the later one
// may be known first, and one whose filing seemed to fail may be there.
func (l *Log) Add(ctx context.Context, ev api.EventRecord, id string) error {
	raw, err := json.Marshal(ev)
	if err != nil {
		return err
	}
	seq, err := l.cfg.Store.Log.Append(ctx, eventSubject, raw, id)
	if err != nil {
		return err
	}
	ev.Index = seq
	l.note(ev, nil)
	known := l.next(ev)
	if known == nil {
		return nil
	}
	wait := time.NewTimer(earlyWait)
	defer wait.Stop()
	select {
	case <-known:
		return nil
	case <-wait.C:
	case <-ctx.Done():
	}
	l.taking.Lock()
	defer l.taking.Unlock()
	err = l.load(ctx, seq, nil)
	l.catchUp()
	delete(l.ahead, seq) // nobody waits for it any more
	return err
}

// next takes an event into the ring, and those that waited for it. If some before it are not known, it waits for them: the
// channel is closed once they are.
func (l *Log) next(ev api.EventRecord) (known chan struct{}) {
	l.taking.Lock()
	defer l.taking.Unlock()
	if ev.Index > l.filed+1 {
		known = make(chan struct{})
		l.ahead[ev.Index] = early{ev, known}
		return known
	}
	if ev.Index == l.filed+1 { // else another one has brought it, or it was filed before
		l.keep(ev)
	}
	l.catchUp()
	return nil
}

// catchUp takes those that waited into the ring as far as nothing is missing, and forgets those that came otherwise. taking is held.
func (l *Log) catchUp() {
	for {
		e, there := l.ahead[l.filed+1]
		if !there {
			break
		}
		l.keep(e.ev)
	}
	for index, e := range l.ahead {
		if index <= l.filed {
			close(e.known)
			delete(l.ahead, index)
		}
	}
}

// Follow takes what other hubs have filed. The codes are those of the store.
func (l *Log) Follow(ctx context.Context) error {
	l.taking.Lock()
	defer l.taking.Unlock()
	defer l.catchUp()
	return l.load(ctx, math.MaxUint64, nil)
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
	l.file(ctx, api.EventRecord{Event: resource.Event{Server: server, Code: code, Message: message}})
}

// AgentTarget is an agent as what an event is about.
func AgentTarget(name string) resource.Target {
	return resource.Target{Kind: resource.KindAgent, Name: name}
}

// OwnOf files one about an object. server is empty where it is about no server.
func (l *Log) OwnOf(ctx context.Context, about resource.Target, server string, code resource.EventCode, message string) {
	l.file(ctx, api.EventRecord{Event: resource.Event{Server: server, Code: code, Message: message}, Target: &about})
}

func (l *Log) file(ctx context.Context, ev api.EventRecord) {
	ev.At, ev.Agent = l.cfg.Clock(), HubName
	l.recordOwn(ctx, ev)
	if err := l.Add(ctx, ev, ""); err != nil {
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
