package webhooks

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"rackboot/hub/events"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/state"
)

// Events is the log of what happened; see [events.Log].
type Events interface {
	Newest() uint64
	Read(ctx context.Context, after uint64, limit int) ([]events.Filed, error)
	CutUpTo() (uint64, error)
}

// Config is what a Room is made of.
type Config struct {
	Hooks   []Hook
	Events  Events
	Meta    *store.Meta
	Objects *store.Objects
	Source  string      // of CloudEvents: a URI that names the hub
	Stopped func() bool // reports whether another hub has taken over, or the store has lost something
	Clock   state.Clock
	NewID   func() string
	Version string
	Logger  *slog.Logger
	// Registerer gets the metrics.
	Registerer prometheus.Registerer

	// Poll is how often it is looked for events, SaveEvery how often a place is written, FirstPause the
	// pause after a first failure. 0 is a second, 5 seconds, and a second.
	Poll, SaveEvery, FirstPause time.Duration
}

// Room sends events to the hub's hooks. It is safe for concurrent use.
type Room struct {
	cfg     Config
	workers []*worker
}

// New makes a Room; the error is that of a metric registered twice.
func New(cfg Config) (*Room, error) {
	for d, initial := range map[*time.Duration]time.Duration{&cfg.Poll: time.Second, &cfg.SaveEvery: 5 * time.Second, &cfg.FirstPause: firstPause} {
		if *d == 0 {
			*d = initial
		}
	}
	r := &Room{cfg: cfg}
	for _, h := range cfg.Hooks {
		if h.Wait == 0 {
			h.Wait = DefaultWait
		}
		if h.GiveUp == 0 {
			h.GiveUp = DefaultGiveUp
		}
		r.workers = append(r.workers, newWorker(&r.cfg, h))
	}
	return r, cfg.Registerer.Register(collector{r})
}

// Run sends until ctx ends. No failure of a receiver or of the store ends it.
func (r *Room) Run(ctx context.Context) error {
	var group errgroup.Group
	for _, w := range r.workers {
		group.Go(func() error { w.run(ctx); return nil })
	}
	return group.Wait()
}

// List says how far each hook is.
func (r *Room) List() []api.Webhook {
	out := make([]api.Webhook, 0, len(r.workers))
	newest := r.cfg.Events.Newest()
	for _, w := range r.workers {
		w.mu.Lock()
		s := w.seen
		s.Newest, s.Dead, s.Dropped = newest, len(w.dead.Items), w.dead.Dropped
		w.mu.Unlock()
		out = append(out, s)
	}
	return out
}

// Dead is the dead letters of a hook; not_found where there is no such hook.
func (r *Room) Dead(name string) (api.WebhookLetters, error) {
	w, err := r.worker(name)
	if err != nil {
		return api.WebhookLetters{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out := api.WebhookLetters{Items: []api.WebhookLetter{}, Dropped: w.dead.Dropped}
	out.Items = append(out.Items, w.dead.Items...)
	return out, nil
}

// Retry has dead letters of a hook sent again, those with ids or all, and says how many. The codes are
// not_found, where there is no such hook or letter, and those of the store.
func (r *Room) Retry(ctx context.Context, name string, ids []string) (n int, err error) {
	const op = "retry webhook"
	w, err := r.worker(name)
	if err != nil {
		return 0, err
	}
	_, n = w.letterSnapshot().asked(ids)
	switch {
	case n < len(ids):
		return 0, protocol.Errorf(protocol.CodeNotFound, op, "%d of %d ids are those of no dead letter", len(ids)-n, len(ids)).
			WithHint("rackctl webhook dead %s lists them", name)
	case n == 0:
		return 0, nil
	}
	err = w.change(ctx, func(l letters) letters { l, n = l.asked(ids); return l })
	if err != nil {
		return 0, err
	}
	select {
	case w.wake <- struct{}{}:
	default: // it is awake
	}
	return n, nil
}

// Test sends something that is no event to a hook, once, whatever waits; not_found where there is no such
// hook.
func (r *Room) Test(ctx context.Context, name string) (api.WebhookTested, error) {
	w, err := r.worker(name)
	if err != nil {
		return api.WebhookTested{}, err
	}
	began := r.cfg.Clock()
	ev := testOf(r.cfg.Source, r.cfg.NewID(), began)
	o := w.send.send(ctx, ev.ID, ev.body())
	return api.WebhookTested{Taken: o.verdict == taken, Code: o.code, Status: o.status, Seconds: r.cfg.Clock().Sub(began).Seconds()}, ctx.Err()
}

func (w *worker) letterSnapshot() letters {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dead
}

func (r *Room) worker(name string) (*worker, error) {
	for _, w := range r.workers {
		if w.hook.Name == name {
			return w, nil
		}
	}
	return nil, protocol.Errorf(protocol.CodeNotFound, "find webhook", "the hub's file has no webhook %q", name).WithHint("rackctl webhook list shows all")
}
