package sharing

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"rackboot/hub/fence"
	"rackboot/hub/plan/hubs"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Store *store.Store
	Start *fence.Start
	// Self says who this hub is; its Name is its own on the store.
	Self store.Hub
	// Took is called once this hub works a unit that it has not worked before, and Left when another one has taken it.
	Took, Left func(unit string)
	// Hears reports whether the hub hears agents now: it is connected to their broker.
	Hears func() bool
	// Lacks counts what this hub could not take of what agents report, and Whole has agents tell all of it again.
	Lacks  func() uint64
	Whole  func()
	Clock  state.Clock // for people
	Logger *slog.Logger
}

// Room is what one of several hubs knows of the others. It is safe for concurrent use.
type Room struct {
	cfg     Config
	began   time.Time // by the monotonic clock
	metrics metrics

	mu    sync.Mutex
	self  store.Hub
	said  bool                     // that it drains is what the newest stored beat says
	own   uint64                   // beats that are stored
	last  time.Duration            // when the newest was, since began
	heard time.Duration            // when the hub heard agents last
	alone bool                     // no other hub was there when this one began
	gone  bool                     // this hub has ended
	seen  map[string]hubs.Sighting // by run
	names map[string]string        // of runs that were seen
	ends  bool                     // this hub wants no work any more
	lacks map[string]uint64        // of others, by run

	hurry chan struct{}   // has a beat be sent at once
	works map[string]bool // the units that this hub owned when it looked last; of who looks
}

// New returns a room of which nobody has heard; Run has it beat. self's run is that of the start.
func New(cfg Config) *Room {
	r := &Room{cfg: cfg, began: time.Now(), self: cfg.Self, seen: map[string]hubs.Sighting{}, names: map[string]string{}, works: map[string]bool{}, hurry: make(chan struct{}, 1), lacks: map[string]uint64{}, alone: true, metrics: newMetrics()}
	cfg.Store.Units.Share()
	for _, h := range cfg.Store.Hubs.List() {
		if h.Name == r.self.Name {
			r.self.Revision = h.Revision // of an earlier start, whose folder this is
		} else {
			r.alone = false
		}
	}
	return r
}

func (r *Room) now() time.Duration { return time.Since(r.began) }

// Owner implements [fence.Units].
func (r *Room) Owner(unit string) message.Fence {
	u, err := r.cfg.Store.Units.Get(unit)
	if err != nil {
		r.cfg.Logger.Error("cannot read who works a unit", "unit", unit, "err", err)
	}
	return u.Owner
}

// Works implements [fence.Units]. A unit that was taken is worked once the watch has brought the take: then all is here
// that the hub before has written for it.
func (r *Room) Works(unit string) bool {
	if !r.owns(unit) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.gone && r.own > 0 && hubs.Beats(r.last, r.now())
}

func (r *Room) owns(unit string) bool {
	u, err := r.cfg.Store.Units.Get(unit)
	return err == nil && u.Owner.Hub == r.self.Run && r.cfg.Store.Units.Came(u)
}

// Newest implements [fence.Units].
func (r *Room) Newest(ctx context.Context, unit string) (message.Fence, error) {
	u, err := r.cfg.Store.Units.Newest(ctx, unit)
	return u.Owner, err
}

// Of implements [fence.Units].
func (r *Room) Of(agent string) string {
	a, err := store.Peek[*resource.Agent](r.cfg.Store.Objects, agent)
	if err != nil {
		return fence.Site
	}
	return wake.RackUnit(a.Spec.RackRef.Name)
}

// Under implements [fence.Units].
func (r *Room) Under(ctx context.Context, unit string) context.Context {
	return store.Under(ctx, unit, r.self.Run)
}

// beatTimeout bounds one beat: what comes later is none.
const beatTimeout = hubs.DeadAfter

// Run beats, and takes what this hub is to work, until ctx ends; then it says that it goes. The code is conflict where
// another hub has this one's name.
func (r *Room) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	beat := func() {
		if err := r.beat(ctx); err != nil {
			cancel(err)
		}
	}
	beat() // before it is there a hub takes nothing
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.every(ctx, r.hurry, beat)
	}()
	r.look(ctx)
	r.every(ctx, nil, func() { r.look(ctx) })
	<-done
	if err := context.Cause(ctx); protocol.CodeOf(err) == protocol.CodeConflict {
		return err
	}
	r.leave()
	return nil
}

// every does something once a second, and when somebody is in a hurry.
func (r *Room) every(ctx context.Context, hurry <-chan struct{}, do func()) {
	tick := time.NewTicker(hubs.BeatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do()
		case <-hurry:
			do()
		}
	}
}

// beat says that this hub is there.
func (r *Room) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	r.mu.Lock()
	if r.cfg.Hears() {
		r.heard = r.now()
	}
	r.self.Draining = r.ends || r.now()-r.heard >= hubs.DeadAfter // another one may hear them
	r.self.Beat++
	r.self.Lacks = r.cfg.Lacks()
	next := r.self
	r.mu.Unlock()
	err := r.cfg.Store.Hubs.Put(ctx, &next)
	if protocol.CodeOf(err) == protocol.CodeConflict {
		next.Revision, err = r.mine(next)
	}
	if err != nil {
		if protocol.CodeOf(err) == protocol.CodeConflict {
			return err
		}
		r.cfg.Logger.Warn("this hub's beat was not stored", "err", err)
		return nil
	}
	r.mu.Lock()
	r.self.Revision = next.Revision
	r.mu.Unlock()
	// What this hub knows of who works what is as old as its mirror: a hub that was stopped may have its beat stored
	// before it hears of all that has happened.
	if !r.cfg.Store.Hubs.Reached(ctx, next.Revision) {
		r.cfg.Logger.Warn("this hub hears of its own beat late", "beat", next.Beat)
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own++
	r.last, r.said = r.now(), next.Draining
	return nil
}

// mine is the revision of this hub's record after it was not written: what was there may be a beat of its own whose
// answer was lost, or of the start before. The code is conflict where another start runs.
func (r *Room) mine(next store.Hub) (uint64, error) {
	for _, h := range r.cfg.Store.Hubs.List() {
		if h.Name != next.Name {
			continue
		}
		r.mu.Lock()
		first := r.own == 0
		r.mu.Unlock()
		if h.Run != next.Run && !first {
			return 0, protocol.Errorf(protocol.CodeConflict, "share a store", "another hub has the name %s too, at %s", next.Name, h.API).
				WithHint("give each hub a name of its own: store.nats.name of its file")
		}
		return h.Revision, nil
	}
	return 0, nil // somebody has removed it
}

// leave removes this hub's record, so that others need not wait until it is dead.
func (r *Room) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), beatTimeout)
	defer cancel()
	r.mu.Lock()
	self := r.self
	r.gone = true
	r.mu.Unlock()
	if err := r.cfg.Store.Hubs.Remove(ctx, self); err != nil {
		r.cfg.Logger.Warn("others learn by its silence that this hub has ended", "err", err)
	}
}

var _ fence.Units = (*Room)(nil)
