package sharing

import (
	"context"
	"slices"
	"time"

	"rackboot/hub/fence"
	"rackboot/hub/plan/hubs"
	"rackboot/hub/store"
)

const (
	// drainFor bounds how long a hub that ends waits for another one to take its units: one that has just started is given
	// them after [hubs.SettledItself], and then takes a look and a write for each eight racks.
	drainFor = hubs.SettledItself + 3*time.Second
	// drainPoll is how often it looks.
	drainPoll = 50 * time.Millisecond
)

// Drain has the others take what this hub works, while it still works, answers and hears: it says that it wants no work, and
// returns once all is taken, when no other hub is there to take it, or after ten seconds. Run must run meanwhile.
func (r *Room) Drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainFor)
	defer cancel()
	r.mu.Lock()
	r.ends = true
	r.mu.Unlock()
	select {
	case r.hurry <- struct{}{}:
	default: // it beats already
	}
	begun, tick := time.Now(), time.NewTicker(drainPoll)
	defer tick.Stop()
	for r.has() && r.taker() {
		select {
		case <-ctx.Done():
			r.cfg.Logger.Warn("nobody has taken what this hub works; another one does so once this one has ended", "after", time.Since(begun).Round(time.Second))
			return
		case <-tick.C:
		}
	}
}

// has reports whether this hub works anything.
func (r *Room) has() bool {
	return slices.ContainsFunc(append(racksOf(r.cfg.Store.Objects), fence.Site), r.owns)
}

// taker reports whether another hub is there that may take what this one has.
func (r *Room) taker() bool {
	return slices.ContainsFunc(r.cfg.Store.Hubs.List(), func(h store.Hub) bool {
		return h.Name != r.self.Name && !h.Draining && r.life(h) != hubs.Dead
	})
}
