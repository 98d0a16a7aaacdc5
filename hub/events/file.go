package events

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/state"
)

// What a record has at most. An event that is larger is alone in its record.
const (
	groupEvents = 256
	groupBytes  = 256 << 10
)

// fileTries bounds how often a record is written anew because another hub has filed meanwhile; after each try that
// brought nothing it waits for filePause.
const (
	fileTries = 64
	filePause = 5 * time.Millisecond
)

// Item is an event to be filed, under an id: once, while it is among the newest 65,536. Without an id it is filed
// each time.
type Item struct {
	Event api.EventRecord
	ID    string
}

// waiting are events of one caller that go into one record.
type waiting struct {
	items []Item
	parts []part
	bytes int
	gone  bool // the caller waits no longer; of queue
	done  chan error
}

// Add files events in their order, and returns when all are on disk, and shown to who asks for what comes after an event:
// none comes later between those that were shown. What is filed by many at once goes into one record. Where it fails, any
// of them may be there. The codes are invalid, unavailable and timeout.
func (l *Log) Add(ctx context.Context, items ...Item) error {
	l.cfg.Store.Haste.GiveWay(ctx)
	all, err := packed(items)
	if err != nil {
		return err
	}
	l.put(all)
	for i, w := range all {
		select {
		case err = <-w.done:
		case <-ctx.Done():
			err = protocol.Errorf(protocol.CodeTimeout, "file an event", "%w", ctx.Err()).WithHint("it may be filed all the same")
		}
		if err != nil {
			l.leave(all[i:])
			return err
		}
	}
	return nil
}

// packed makes parts of records of events.
func packed(items []Item) (all []*waiting, err error) {
	var w *waiting
	for _, item := range items {
		if item.ID == "" {
			item.ID = rand.Text() // a write without an answer is known by it
		}
		raw, err := json.Marshal(item.Event)
		if err != nil {
			return nil, err
		}
		size := len(raw) + len(item.ID)
		if w == nil || len(w.items) == groupEvents || w.bytes+size > groupBytes {
			w = &waiting{done: make(chan error, 1)}
			all = append(all, w)
		}
		w.items, w.parts, w.bytes = append(w.items, item), append(w.parts, part{item.ID, raw}), w.bytes+size
	}
	return all, nil
}

// put has what waits filed, by whoever does so already.
func (l *Log) put(all []*waiting) {
	l.queueing.Lock()
	defer l.queueing.Unlock()
	l.queue = append(l.queue, all...)
	for _, w := range all {
		l.metrics.waiting.Add(float64(len(w.items)))
	}
	if !l.filing && len(l.queue) > 0 {
		l.filing = true
		go l.fileAll()
	}
}

// leave says that nobody waits for these any more.
func (l *Log) leave(all []*waiting) {
	l.queueing.Lock()
	defer l.queueing.Unlock()
	for _, w := range all {
		w.gone = true
	}
}

// next is what goes into the next record; nil if nothing waits.
func (l *Log) next() (now []*waiting) {
	l.queueing.Lock()
	defer l.queueing.Unlock()
	n, size := 0, 0
	for len(l.queue) > 0 {
		w := l.queue[0]
		if !w.gone {
			if n, size = n+len(w.items), size+w.bytes; len(now) > 0 && (n > groupEvents || size > groupBytes) {
				break
			}
			now = append(now, w)
		}
		l.queue[0] = nil
		l.queue = l.queue[1:]
		l.metrics.waiting.Sub(float64(len(w.items)))
	}
	if l.filing = len(now) > 0; !l.filing {
		l.queue = nil
	}
	return now
}

// fileAll files as long as something waits. What comes while a record is written goes into the next one.
func (l *Log) fileAll() {
	ctx := store.Prompt(context.Background()) // whoever waits has given way; each call to the store has its deadline
	for now := l.next(); now != nil; now = l.next() {
		err := l.file(ctx, now)
		for _, w := range now {
			w.done <- err
		}
	}
}

// file writes a record after all that the log has. If another hub has filed meanwhile, or an earlier record was written
// though that seemed to fail, it takes that first: then it is known what of now is there already.
func (l *Log) file(ctx context.Context, now []*waiting) error {
	l.taking.Lock()
	defer l.taking.Unlock()
	for range fileTries {
		g := group{First: l.filed + 1}
		var events []api.EventRecord
		fresh := map[string]bool{}
		for _, w := range now {
			for i, p := range w.parts {
				if l.seen.has(p.ID) || fresh[p.ID] {
					continue
				}
				fresh[p.ID] = true
				ev := w.items[i].Event
				ev.Index = g.First + uint64(len(g.Events))
				g.Events, events = append(g.Events, p), append(events, ev)
			}
		}
		if len(events) == 0 {
			return nil
		}
		raw, err := json.Marshal(g)
		if err != nil {
			return err
		}
		seq, err := l.cfg.Store.Log.AppendAfter(ctx, eventSubject, raw, l.at)
		if err == nil {
			l.took(g, seq, events)
			l.metrics.filed.Add(float64(len(events)))
			l.metrics.records.Inc()
			for _, ev := range events {
				l.note(ev, nil)
			}
			return nil
		}
		if !errors.Is(err, state.ErrConflict) {
			return err
		}
		if err := l.others(ctx); err != nil {
			return err
		}
	}
	return protocol.Errorf(protocol.CodeUnavailable, "file an event", "other hubs file all the time").WithHint("try again")
}

// others takes what somebody else has filed. taking is held.
func (l *Log) others(ctx context.Context) error {
	was := l.at
	if err := l.load(ctx, nil); err != nil || l.at != was {
		return err
	}
	tail, err := l.cfg.Store.Log.Tail(ctx, eventSubject, 1)
	if err != nil {
		return err
	}
	newest := uint64(0)
	if len(tail) > 0 {
		newest = tail[0].Seq
	}
	if newest >= was { // it is there, and this server does not show it yet
		time.Sleep(filePause)
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = newest // somebody has put an older log in its place; the numbers go on
	return nil
}
