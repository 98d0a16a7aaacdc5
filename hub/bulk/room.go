package bulk

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/access"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/state"
)

const (
	// Kept is how long one that ended can be asked for, and mostKept how many of them.
	Kept     = 7 * 24 * time.Hour
	mostKept = 200
	// mostParts is how many parts they have at most, the newest aside: 100,000 names.
	mostParts = 400
	// partSize is how many names a part has: a part is one message to the store.
	partSize = 250
	// sweepEvery is how often those that ended are looked through.
	sweepEvery = time.Hour
	// lookEvery is how often it is looked for what another hub has accepted, or left.
	lookEvery = 2 * time.Second
	// pause is before what could not be written is written again.
	pause = time.Second
)

// Asker answers requests as the API does; see gate.Gate.
type Asker interface {
	Inside(ctx context.Context, who access.Caller, from, path string, body []byte) error
	Client(name string) (access.Caller, bool)
}

// Config is what a Room is made of.
type Config struct {
	Bulks      *store.Bulks
	Requests   *store.Requests
	Asker      Asker
	Clock      state.Clock
	Registerer prometheus.Registerer
	Logger     *slog.Logger
	// Idle reports whether another hub on the same store works off what is asked; nil is never.
	Idle func() bool
	// Under has what is written with a context expect that this hub still works off what is asked; nil expects nothing. A hub
	// that was stopped in the middle of an operation then makes no request that the other one makes too.
	Under func(context.Context) context.Context
}

// Room is where bulk operations are. It is safe for concurrent use.
type Room struct {
	cfg   Config
	items *prometheus.CounterVec
	fresh chan struct{} // something was accepted

	mu sync.Mutex // over the writes of heads, and over sweeps
}

// New makes a Room.
func New(cfg Config) *Room {
	if cfg.Under == nil {
		cfg.Under = func(ctx context.Context) context.Context { return ctx }
	}
	r := &Room{cfg: cfg, fresh: make(chan struct{}, 1)}
	r.items = newItems(cfg.Registerer)
	for _, s := range []api.BulkState{api.BulkRunning, api.BulkStopped, api.BulkCancelled, api.BulkDone} {
		cfg.Registerer.MustRegister(r.gauge(s))
	}
	return r
}

// Accept keeps an operation on names, and has it worked off. The codes are unavailable, also where too many have not ended,
// and timeout.
func (r *Room) Accept(ctx context.Context, who access.Caller, b store.StoredBulk, names []string) (api.BulkStatus, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	open := 0
	for _, o := range r.cfg.Bulks.List() {
		if o.EndedAt == nil {
			open++
		}
	}
	if open >= api.MaxBulkOpen {
		return api.BulkStatus{}, protocol.Errorf(protocol.CodeUnavailable, "bulk", "%d bulk operations have not ended, and no more are taken", open).
			WithHint("nothing was done; rackctl get bulk shows them, rackctl bulk cancel ends one")
	}
	caller, err := json.Marshal(who)
	if err != nil {
		return api.BulkStatus{}, protocol.Errorf(protocol.CodeInternal, "bulk", "%w", err)
	}
	b.Caller, b.By, b.CreatedAt = caller, who.Name, r.cfg.Clock().UTC()
	for len(names) > 0 {
		n := min(partSize, len(names))
		p := store.BulkPart{Items: make([]store.BulkItem, n)}
		for i := range p.Items {
			p.Items[i].Name = names[i]
		}
		if err := r.cfg.Bulks.PutPart(ctx, b.ID, b.Parts, &p); err != nil {
			return api.BulkStatus{}, err
		}
		names, b.Parts = names[n:], b.Parts+1
	}
	if err := r.cfg.Bulks.Put(ctx, &b); err != nil {
		return api.BulkStatus{}, err
	}
	select {
	case r.fresh <- struct{}{}:
	default:
	}
	return r.shown(b, false), nil
}

// Cancel has those not be tried that were not. One that has ended stays as it ended.
func (r *Room) Cancel(ctx context.Context, id, by string) (api.BulkStatus, error) {
	b, err := r.change(ctx, id, func(b *store.StoredBulk) bool {
		if b.EndedAt != nil || b.CancelledBy != "" {
			return false
		}
		b.CancelledBy = by
		return true
	})
	if err != nil {
		return api.BulkStatus{}, err
	}
	return r.shown(b, false), nil
}

// change writes what do changes in the head of an operation, if it reports that it did.
func (r *Room) change(ctx context.Context, id string, do func(*store.StoredBulk) bool) (store.StoredBulk, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, err := r.cfg.Bulks.Get(id)
	if err != nil || !do(&b) {
		return b, err
	}
	return b, r.cfg.Bulks.Put(ctx, &b)
}

func (r *Room) idle() bool { return r.cfg.Idle != nil && r.cfg.Idle() }

// Run works off what is there and what comes, until ctx ends. It returns once nothing is under way.
func (r *Room) Run(ctx context.Context) error {
	var works sync.WaitGroup
	defer works.Wait()
	var mu sync.Mutex
	running := map[string]bool{}
	begin := func() {
		mu.Lock()
		defer mu.Unlock()
		maps.DeleteFunc(running, func(id string, _ bool) bool { _, err := r.cfg.Bulks.Get(id); return err != nil })
		for _, b := range r.cfg.Bulks.List() {
			if b.EndedAt == nil && !running[b.ID] {
				running[b.ID] = true
				works.Go(func() {
					r.work(r.cfg.Under(ctx), b.ID)
					mu.Lock()
					defer mu.Unlock()
					delete(running, b.ID)
				})
			}
		}
	}
	every, looks := time.NewTicker(sweepEvery), time.NewTicker(lookEvery)
	defer every.Stop()
	defer looks.Stop()
	sweeps := true
	for {
		if !r.idle() {
			begin()
			if sweeps {
				if err := r.Sweep(ctx); err != nil && ctx.Err() == nil {
					r.cfg.Logger.Warn("old bulk operations not removed", "err", err)
				}
			}
		}
		select {
		case <-r.fresh:
			sweeps = true
		case <-looks.C: // another hub may have accepted one, or have died
			sweeps = false
		case <-every.C:
			sweeps = true
		case <-ctx.Done():
			return nil
		}
	}
}

// Sweep forgets those that ended long ago, and the oldest of those that are too many.
func (r *Room) Sweep(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ended []store.StoredBulk
	for _, b := range r.cfg.Bulks.List() {
		if b.EndedAt != nil {
			ended = append(ended, b)
		}
	}
	var errs []error
	parts := 0
	for i, b := range slices.Backward(ended) {
		parts += b.Parts
		if newer := len(ended) - 1 - i; newer >= mostKept || newer > 0 && parts > mostParts || r.cfg.Clock().Sub(*b.EndedAt) > Kept {
			errs = append(errs, r.cfg.Bulks.Remove(ctx, b))
		}
	}
	return errors.Join(append(errs, r.cfg.Bulks.Sweep(ctx))...)
}
