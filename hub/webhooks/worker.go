package webhooks

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"rackboot/hub/events"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// batch is how many events are read at once.
const batch = 200

// finalSave bounds the last write of a place, when the hub ends.
const finalSave = 3 * time.Second

// worker serves one hook. Its loop has all fields but those below mu and writing.
type worker struct {
	cfg  *Config
	hook Hook
	send *sender
	wake chan struct{} // somebody has asked for dead letters to be sent again

	place    kept[place]
	position uint64
	saved    time.Time // when the place was written last
	began    time.Time
	read     []events.Filed // what was read and not looked at
	head     *item          // what is sent next
	failed   int            // attempts in a row
	next     time.Time      // of the next attempt

	writing sync.Mutex // orders the writes of letters
	letters kept[letters]

	mu   sync.Mutex
	seen api.Webhook
	dead letters
}

func newWorker(cfg *Config, h Hook) *worker {
	w := &worker{cfg: cfg, hook: h, send: newSender(h, cfg.Clock, cfg.Version), wake: make(chan struct{}, 1), began: cfg.Clock()}
	w.place = kept[place]{meta: cfg.Meta, name: fmt.Sprintf(placeName, h.Name)}
	w.letters = kept[letters]{meta: cfg.Meta, name: fmt.Sprintf(lettersName, h.Name)}
	w.seen = api.Webhook{Name: h.Name, Host: h.host(), Codes: h.Codes, Racks: h.Racks}
	return w
}

// run sends until ctx ends.
func (w *worker) run(ctx context.Context) {
	defer w.send.http.CloseIdleConnections()
	for !w.open(ctx) {
		if !w.pause(ctx, w.cfg.Poll) {
			return
		}
	}
	for w.pause(ctx, w.turn(ctx)) {
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalSave)
	defer cancel()
	w.save(last, true)
}

// pause waits; false where ctx has ended.
func (w *worker) pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-w.wake:
	case <-t.C:
	}
	return true
}

// open reads what is kept. A hook that is new begins with what happens from now on.
func (w *worker) open(ctx context.Context) bool {
	if w.cfg.Stopped() {
		return false
	}
	there, err := w.place.open()
	if err == nil {
		w.writing.Lock()
		_, err = w.letters.open()
		w.show(func() { w.dead = w.letters.value })
		w.writing.Unlock()
	}
	newest := w.cfg.Events.Newest()
	// The log may have lost its end, or be put back: what comes has an Index again that was told.
	if w.position = min(w.place.value.Position, newest); !there {
		w.position = newest
	}
	if err == nil && (!there || w.position != w.place.value.Position) {
		err = w.place.put(store.Patient(ctx), place{w.position})
	}
	if err != nil {
		w.cfg.Logger.Warn("webhook waits for the store", "webhook", w.hook.Name, "err", err)
		return false
	}
	w.show(func() { w.seen.Position = w.position })
	return true
}

func (w *worker) show(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// turn makes one attempt, if something is due, and says how long to wait before the next turn.
func (w *worker) turn(ctx context.Context) time.Duration {
	if w.cfg.Stopped() {
		return w.cfg.Poll
	}
	if letter, is := w.askedLetter(); is {
		w.resend(ctx, letter)
		return 0
	}
	if wait := w.next.Sub(w.cfg.Clock()); wait > 0 {
		w.save(ctx, false)
		return wait
	}
	if w.head == nil {
		if err := w.fill(ctx); err != nil {
			w.cfg.Logger.Warn("webhook cannot read events", "webhook", w.hook.Name, "err", err)
			return w.cfg.Poll
		}
	}
	if w.head == nil {
		w.save(ctx, false)
		return w.cfg.Poll
	}
	o := w.send.send(ctx, w.head.ID, w.head.body())
	if ctx.Err() != nil && o.verdict != taken {
		return 0 // the end of the hub is no failure of the receiver
	}
	w.settle(ctx, o)
	w.save(ctx, false)
	return 0
}

// fill finds what is sent next, and passes over what the hook does not ask for.
func (w *worker) fill(ctx context.Context) error {
	if len(w.read) == 0 {
		if w.position >= w.cfg.Events.Newest() {
			return nil
		}
		got, err := w.cfg.Events.Read(ctx, w.position, batch)
		if err != nil || len(got) == 0 {
			return err
		}
		cut, err := w.cfg.Events.CutUpTo() // it is written before something is cut, and so read after
		if err != nil {
			return err
		}
		if upTo := missed(w.position, cut, got[0].Index); upTo > w.position {
			w.setHead(gapOf(w.cfg.Source, w.position, upTo, w.cfg.Clock()))
			return nil
		}
		w.read = got
	}
	for len(w.read) > 0 {
		ev := w.read[0]
		w.read = w.read[1:]
		if w.wants(ev.EventRecord) {
			w.setHead(itemOf(w.cfg.Source, ev))
			return nil
		}
		w.pass(ev.Index)
	}
	return nil
}

// missed is the Index up to which events after a position were cut off; the position for none. cut is what was
// written down before a cut, first the next event that there is: one that is not after cut says that the
// cut is still to come.
func missed(position, cut, first uint64) uint64 {
	if cut > position && first > cut {
		return cut
	}
	return position
}

func (w *worker) setHead(i *item) {
	w.head = i
	w.show(func() {
		w.seen.Waiting = nil
		if i != nil {
			w.seen.Waiting = &api.WebhookWaiting{ID: i.ID, Filed: i.filed, Next: w.cfg.Clock()}
		}
	})
}

// pass has done with everything up to an Index.
func (w *worker) pass(index uint64) {
	w.position = index
	w.show(func() { w.seen.Position = index })
}

// wants reports whether the hook asks for an event.
func (w *worker) wants(ev api.EventRecord) bool {
	if len(w.hook.Codes) > 0 && !slices.Contains(w.hook.Codes, ev.Code) {
		return false
	}
	return len(w.hook.Racks) == 0 || slices.Contains(w.hook.Racks, rackOf(w.cfg.Objects, ev))
}

// rackOf is the rack of an event's server, or else of its agent; empty where it is of none, or what it is of
// is gone.
func rackOf(objects *store.Objects, ev api.EventRecord) string {
	if ev.Server == "" {
		if a, err := store.Get[*resource.Agent](objects, ev.Agent); err == nil {
			return a.Spec.RackRef.Name
		}
		return ""
	}
	s, err := store.Get[*resource.Server](objects, ev.Server)
	if err != nil {
		return ""
	}
	b, err := store.Get[*resource.BMC](objects, s.Spec.BMCRef.Name)
	if err != nil {
		return ""
	}
	return b.Spec.RackRef.Name
}

// settle draws the conclusion from an attempt.
func (w *worker) settle(ctx context.Context, o outcome) {
	now := w.cfg.Clock()
	if o.verdict == taken {
		w.failed = 0
		w.show(func() { w.seen.Delivered++; w.seen.Taken = &now })
		w.done()
		return
	}
	w.head.attempts++
	failure := api.WebhookFailure{At: now, Code: o.code, Status: o.status}
	w.show(func() { w.seen.Failures++; w.seen.Failure = &failure })
	since := w.began
	if w.head.filed.After(since) {
		since = w.head.filed
	}
	giveUp := o.verdict == refused || now.Sub(since) >= w.hook.GiveUp
	if o.verdict == refused {
		w.failed = 0 // it answers
	} else {
		w.failed++
		w.next = now.Add(max(o.after, pauseAfter(w.failed, w.cfg.FirstPause, random)))
	}
	if giveUp {
		if err := w.bury(ctx, failure); err == nil {
			w.cfg.Logger.Warn("webhook gave an event up", "webhook", w.hook.Name, "event", w.head.ID, "code", o.code, "status", o.status)
			w.done()
			return
		}
		w.next = now.Add(w.cfg.Poll) // the store takes nothing; the event is sent once more
	}
	head := *w.head
	w.show(func() {
		w.seen.Waiting = &api.WebhookWaiting{ID: head.ID, Filed: head.filed, Attempts: head.attempts, Next: w.next}
	})
}

// done has done with the head.
func (w *worker) done() {
	w.pass(w.head.index)
	w.setHead(nil)
}

// save writes the place, if it is time to, or now. Until then a crash has what was sent since be sent again.
func (w *worker) save(ctx context.Context, now bool) {
	at := w.cfg.Clock()
	if w.position == w.place.value.Position || w.cfg.Stopped() || (!now && at.Sub(w.saved) < w.cfg.SaveEvery) {
		return
	}
	w.saved = at // also where it fails: it is not tried more often
	if err := w.place.put(store.Patient(ctx), place{w.position}); err != nil {
		w.cfg.Logger.Warn("webhook's place was not kept", "webhook", w.hook.Name, "err", err)
	}
}

// change writes other letters.
func (w *worker) change(ctx context.Context, to func(letters) letters) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	if err := w.letters.put(ctx, to(w.letters.value)); err != nil {
		return protocol.Errorf(protocol.CodeOf(err), "keep dead letters", "%w", err)
	}
	w.show(func() { w.dead = w.letters.value })
	return nil
}

// bury makes the head a dead letter, before its place is passed: a crash between the two sends it again.
func (w *worker) bury(ctx context.Context, f api.WebhookFailure) error {
	one := api.WebhookLetter{
		ID: w.head.ID, Type: w.head.Type, Subject: w.head.Subject, Filed: w.head.filed.UTC(), Attempts: w.head.attempts, Failure: f, CloudEvent: w.head.body(),
	}
	return w.change(ctx, func(l letters) letters { return l.with(one) })
}

// askedLetter is the oldest letter that somebody wants sent again.
func (w *worker) askedLetter() (api.WebhookLetter, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.dead.Items, func(l api.WebhookLetter) bool { return l.Again })
	if i < 0 {
		return api.WebhookLetter{}, false
	}
	return w.dead.Items[i], true
}

// resend sends a dead letter once more. One that is not taken stays, and waits for somebody's word again.
func (w *worker) resend(ctx context.Context, l api.WebhookLetter) {
	o := w.send.send(ctx, l.ID, l.CloudEvent)
	if ctx.Err() != nil {
		return
	}
	now := w.cfg.Clock()
	to := func(all letters) letters { return all.without(l.ID) }
	if o.verdict == taken {
		w.show(func() { w.seen.Delivered++; w.seen.Taken = &now })
	} else {
		l.Again, l.Attempts, l.Failure = false, l.Attempts+1, api.WebhookFailure{At: now, Code: o.code, Status: o.status}
		w.show(func() { w.seen.Failures++; w.seen.Failure = &l.Failure })
		to = func(all letters) letters { return all.instead(l) }
	}
	if err := w.change(ctx, to); err != nil {
		w.cfg.Logger.Warn("webhook's dead letters were not kept", "webhook", w.hook.Name, "err", err)
		w.pause(ctx, w.cfg.Poll)
	}
}
