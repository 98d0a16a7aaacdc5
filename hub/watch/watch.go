package watch

import (
	"context"
	"maps"
	"math/rand/v2"
	"reflect"
	"time"

	"rackboot/hub/access"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

// Ask is what somebody wants to watch.
type Ask struct {
	Kind resource.Kind
	Who  access.Caller
	// Selector and Field are the selectors as they were written; Labels and Fields as they were read.
	Selector, Field string
	Labels          selector.Selector
	Fields          selector.Fields
	// Only are the fields that are wanted.
	Only selector.Only
	// Position is where another watch ended; empty begins with everything.
	Position string
	// Still reports whether Who may read on; it is asked at each beat. Nil is yes.
	Still func() bool
	// Incomplete says what may be missing; nil is nothing.
	Incomplete func() *protoapi.Incomplete
}

// Watch is one watch, which has begun and must be run.
type Watch struct {
	room  *Room
	board *board
	ask   Ask
	of    string // what positions belong to
	queue *queue
	judge judge
	again bool // everything is told
	// passes says that it passes over resources of which nothing is made, because its caller does not see or want them.
	passes bool
	first  []string // what has changed meanwhile, where not everything is told
}

// Begin begins a watch. What changes from now on is in it. The code is unavailable, if there are too many.
func (r *Room) Begin(ask Ask) (*Watch, error) {
	everywhere := ask.Who.Scope.Everywhere()
	w := &Watch{room: r, ask: ask, queue: newQueue(), again: true, passes: !everywhere || !ask.Labels.Empty()}
	w.of = question(ask.Kind, ask.Selector, ask.Field, ask.Only.String(), ask.Who.Name, ask.Who.Scope.String())
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.open) >= r.cfg.Most || r.by[ask.Who.Name] >= r.cfg.MostOfCaller {
		r.metrics.refused.Inc()
		return nil, protocol.Errorf(protocol.CodeUnavailable, "watch", "%d watches are open, %d of them of %q", len(r.open), r.by[ask.Who.Name], ask.Who.Name).
			WithHint("end some, or come again later; there may be %d in all, and %d of one caller", r.cfg.Most, r.cfg.MostOfCaller)
	}
	b := r.board(ask.Kind, viewOf(ask, everywhere))
	w.board = b
	if p, ok := readPosition(ask.Position, w.of); ok && p.run == r.cfg.Run && p.seq <= r.seq && everywhere {
		names, known := b.since(p.seq)
		w.first, w.again = names, !known
	}
	w.judge = newJudge(r, ask, w.again)
	w.judge.less = b.view.only.String() != ask.Only.String()
	b.watches[w] = true
	r.open[w] = true
	r.by[ask.Who.Name]++
	return w, nil
}

// end gives its place back.
func (w *Watch) end(y why) {
	r := w.room
	r.metrics.ended.WithLabelValues(string(y)).Inc()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, w)
	delete(w.board.watches, w)
	w.board.left = time.Now()
	if r.by[w.ask.Who.Name]--; r.by[w.ask.Who.Name] == 0 {
		delete(r.by, w.ask.Who.Name)
	}
}

const (
	// WriteWait bounds how long a reader may take nothing, and slowAfter how long he may take for what is written at
	// once: then he is told so.
	WriteWait = 30 * time.Second
	slowAfter = 20 * time.Second
	// batch is how much is written at once, and pace the pause after it: what comes meanwhile is written together.
	batch = 64
	pace  = 50 * time.Millisecond
)

// Run writes what there is and what changes, until ctx or the hub ends, or the reader does not read. write takes
// lines, and must fail within [WriteWait] when nobody takes them.
func (w *Watch) Run(ctx context.Context, write func(lines [][]byte) error) {
	y := w.run(ctx, &out{ctx: ctx, write: write, lines: w.room.metrics.lines, wrote: time.Now()})
	w.end(y)
}

func (w *Watch) run(ctx context.Context, o *out) why {
	if !w.begin(o) || !o.put(protoapi.WatchSynced, w.synced()) || !o.flush() {
		return w.ended(o)
	}
	beat := time.NewTimer(protoapi.WatchBeat)
	defer beat.Stop()
	long := time.NewTimer(protoapi.WatchWait*9/10 - rand.N(protoapi.WatchWait/10)) // they do not all come again at once
	defer long.Stop()
	for {
		select {
		case <-ctx.Done():
			return w.ended(o)
		case <-w.room.ended:
			return w.stopped(o)
		case <-long.C:
			if o.put(protoapi.WatchBookmark, w.bookmark()) {
				o.flush()
			}
			return whyLong
		case <-beat.C:
			if w.ask.Still != nil && !w.ask.Still() {
				return whyCaller
			}
			if !o.put(protoapi.WatchBookmark, w.bookmark()) || !o.flush() {
				return w.ended(o)
			}
			beat.Reset(protoapi.WatchBeat)
		case <-w.queue.ready:
			if !w.forward(ctx, o) {
				return w.ended(o)
			}
		}
	}
}

// ended is why writing does not go on. Who reads all the same is told.
func (w *Watch) ended(o *out) why {
	switch {
	case o.err == nil && w.room.isEnded():
		return w.stopped(o)
	case o.slow:
		if o.err == nil {
			o.end(protocol.Errorf(protocol.CodeUnavailable, "watch", "the reader took longer than %s for what was written at once", slowAfter).
				WithHint("read faster, or watch less by selectors; go on from the last position"))
		}
		return whySlow
	}
	return whyReader
}

func (w *Watch) stopped(o *out) why {
	o.end(protocol.Errorf(protocol.CodeUnavailable, "watch", "the hub is stopping").WithHint("go on from the last position"))
	return whyShutdown
}

// begin writes what there is, or what has changed meanwhile.
func (w *Watch) begin(o *out) bool {
	if !w.again {
		for _, name := range w.first {
			if !w.tell(o, w.room.shownNow(w, name)) {
				return false
			}
		}
		w.first = nil
		return true
	}
	if !o.put(protoapi.WatchAgain, lineOf(protoapi.WatchEvent{Type: protoapi.WatchAgain})) {
		return false
	}
	if !w.list(o) {
		return false
	}
	w.passedOver()
	return true
}

// list writes what there is.
func (w *Watch) list(o *out) bool {
	next := func(at string) []resource.Object { return w.room.cfg.Store.Objects.AfterOf(w.ask.Kind, at, stride) }
	if some, few := w.room.cfg.Store.Objects.Narrow(w.ask.Kind, w.ask.Labels.Selector); few {
		next = func(at string) []resource.Object { return some.After(at, stride) }
	}
	for at := ""; ; {
		objs := next(at)
		for _, obj := range objs {
			at = obj.Head().Metadata.Name
			if w.judge.may(obj) && w.judge.mayBeSelected(obj) && !w.tell(o, w.room.shownOf(w, obj)) {
				return false
			}
			if time.Since(o.wrote) > protoapi.WatchBeat && (!o.put(protoapi.WatchBookmark, lineOf(protoapi.WatchEvent{Type: protoapi.WatchBookmark})) || !o.flush()) {
				return false
			}
		}
		if len(objs) < stride || w.room.isEnded() {
			return !w.room.isEnded()
		}
	}
}

// passedOver has resources looked at that the watch has passed over while they were elsewhere than the board knows: they
// may be back before anybody looks, and then say nothing new to those who had them.
func (w *Watch) passedOver() {
	if !w.passes {
		return
	}
	for name, known := range w.room.placed(w.board, w.judge.has) {
		stored := w.room.cfg.Store.Objects.PeekOf(w.ask.Kind, name)
		if stored == nil {
			continue // that it has gone is news
		}
		selected := w.judge.may(stored) && w.judge.mayBeSelected(stored)
		if selected || !maps.Equal(stored.Head().Metadata.Labels, known.labels) || !reflect.DeepEqual(whereIs(stored, w.judge.world), known.at) {
			w.room.again(w.board, name)
		}
	}
}

// forward writes what is in the queue, some of it, and then rests.
func (w *Watch) forward(ctx context.Context, o *out) bool {
	for _, s := range w.queue.take(batch) {
		if !w.tell(o, s) {
			return false
		}
	}
	if !o.flush() {
		return false
	}
	if w.queue.len() > 0 {
		w.queue.wake()
		return true // it is behind: no rest
	}
	select {
	case <-time.After(pace):
	case <-ctx.Done():
	case <-w.room.ended:
	}
	return true
}

// tell writes what its caller may know of a resource.
func (w *Watch) tell(o *out, s *shown) bool {
	if s == nil {
		return true
	}
	word, line, moved, err := w.judge.line(s)
	if moved {
		w.room.again(w.board, s.name)
	}
	if err != nil {
		w.room.cfg.Logger.Error("resource cannot be told", "kind", w.ask.Kind, "name", s.name, "err", err)
		return true
	}
	return line == nil || o.put(word, line)
}

func (w *Watch) position() string {
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	return position{w.room.cfg.Run, w.queue.upTo(w.room.seq)}.token(w.of)
}

func (w *Watch) bookmark() []byte {
	return lineOf(protoapi.WatchEvent{Type: protoapi.WatchBookmark, Position: w.position()})
}

func (w *Watch) synced() []byte {
	e := protoapi.WatchEvent{Type: protoapi.WatchSynced, Position: w.position()}
	if w.ask.Incomplete != nil {
		e.Incomplete = w.ask.Incomplete()
	}
	return lineOf(e)
}

func (r *Room) isEnded() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// shownNow is what is shown of a resource, also that it is not there.
func (r *Room) shownNow(w *Watch, name string) *shown {
	if obj := r.cfg.Store.Objects.PeekOf(w.board.key.kind, name); obj != nil {
		return r.shownOf(w, obj)
	}
	return gone(name)
}

// shownOf is what is shown of a stored resource: what was made lately, or made now. It is nil where it cannot be
// shown, as in the log.
func (r *Room) shownOf(w *Watch, stored resource.Object) *shown {
	b, name := w.board, stored.Head().Metadata.Name
	r.mu.Lock()
	if s := b.recent(name); s != nil {
		r.mu.Unlock()
		return s
	}
	r.mu.Unlock()
	m, err := r.show(stored, b.view.status())
	var s *shown
	if err == nil {
		s, err = m.cut(b.view)
	}
	if err != nil {
		r.cfg.Logger.Error("resource cannot be shown", "kind", b.key.kind, "name", name, "err", err)
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if b.note(w, s, r.seq+1) {
		r.seq++
	}
	return s
}
