package fleet

import (
	"context"
	"errors"
	"time"

	"rackboot/protocol"
)

// Await waits until the fleet is in a state, and says how long that took. An agent that has had no connection since
// then is not in step. Errors: timeout, with what is missing.
func (f *Fleet) Await(ctx context.Context, s State, since time.Time, within time.Duration) (time.Duration, error) {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		n := f.tally(since)
		racks := len(f.agents) - n.dark
		servers, claimed := racks*f.cfg.Servers, f.lit()*f.cfg.Servers
		ok := n.answered == racks && n.known >= servers
		switch s {
		case InStep:
		case Installed:
			ok = ok && n.owned >= claimed && n.installed >= claimed
		case Settled:
			ok = ok && n.owned >= claimed && n.busy == 0
		case Told:
			ok = ok && n.owned >= claimed && n.busy == 0 && n.untold == 0
		}
		if ok {
			f.table.say("all racks are %s after %s", s, roundedSince(begun))
			return time.Since(begun), nil
		}
		select {
		case <-ctx.Done():
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return 0, context.Cause(ctx)
			}
			err := protocol.Errorf(protocol.CodeTimeout, "wait for the fleet", "after %s racks are not %s: %d of %d are in step, with %d of %d servers; %d of %d have an owner, %d are installed, something is to happen at %d, %d events are not acknowledged%s",
				within, s, n.answered, racks, n.known, servers, n.owned, claimed, n.installed, n.busy, n.untold, f.firstFailure())
			return 0, err.WithHint("rackctl get claims says what those wait for; where no rack connects, the folder's certificates may be of another hub: remove it")
		case <-time.After(stepLook):
		}
	}
}

// lit are how many racks with power have claims.
func (f *Fleet) lit() (n int) {
	for _, a := range f.agents {
		if f.claimed[a.rack] && !a.progress.dark.Load() {
			n++
		}
	}
	return n
}

// tally is how far the racks with power are.
type tally struct {
	dark, connected, answered, known, owned, installed, busy, untold int
}

// tally counts. Who has had no connection since then is not answered.
func (f *Fleet) tally(since time.Time) (n tally) {
	for _, a := range f.agents {
		p := &a.progress
		if p.connected() {
			n.connected++
		}
		n.installed += int(p.installed.Load())
		if p.dark.Load() {
			n.dark++
			continue
		}
		n.known += int(p.known.Load())
		n.owned += int(p.owned.Load())
		n.busy += int(p.busy.Load())
		n.untold += int(p.untold.Load())
		if at := p.session.Load(); at > 0 && (since.IsZero() || at >= since.UnixNano()) && p.answered.Load() {
			n.answered++
		}
	}
	return n
}
