package agent

import (
	"context"
	"errors"
	"time"

	"rackboot/agent/guard"
	"rackboot/agent/reports"
	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// ErrStore is in the chain of Run's error where the store has failed for good: it is to be opened
// anew, and the agent made anew over what that gives.
var ErrStore = errors.New("the store has failed, and is to be opened anew")

// guardTry is how often it is tried in guard mode to write to the store.
const guardTry = time.Second

// brokenAfter is how many tries in a row show that the store does not heal by itself.
const brokenAfter = 3

// guarded is the agent's store with its guard mode, which begins when the store fails, and is left
// by a write.
type guarded struct {
	*store.Store
	guard   *guard.Guard
	owned   bool // whoever made the guard opens the store anew
	clock   state.Clock
	reports *reports.Room
	agent   *Agent
	begun   chan struct{}
	lost    chan *RolledBackError
}

// RolledBackError is that of an agent's Run over a store that is an older copy of what it was, as the
// hub says.
type RolledBackError struct {
	Incarnation string
	// Had is the sequence of the store that the hub was told of; 0 is not known.
	Had uint64
}

// Error implements error.
func (e *RolledBackError) Error() string {
	return "the hub was told of more than the store of incarnation " + e.Incarnation + " has: it is an older copy"
}

// openGuard opens the agent's store, watched by its guard. A guard mode that an earlier store
// has begun is over when this one took what is to be recorded first.
func openGuard(cfg Config, newID func() string) (g *guarded, err error) {
	g = &guarded{guard: cfg.Guard, owned: cfg.Guard != nil, clock: cfg.Clock, begun: make(chan struct{}, 1), lost: make(chan *RolledBackError, 1)}
	if g.guard == nil {
		g.guard = guard.Open(guard.Config{Agent: cfg.Agent, Clock: cfg.Clock, Logger: cfg.Logger})
	}
	open := func() error {
		g.Store, err = store.Open(store.Config{
			DB: g.guard.Store(cfg.DB), Guard: g.guard, NewID: newID, Crash: cfg.Crash, Standby: cfg.Standby, Guarded: func() bool { return len(cfg.Destructive.Keys) > 0 },
		})
		return err
	}
	if m, on := g.guard.Mode(); !on || m.Frozen {
		return g, open()
	}
	return g, g.guard.Attempt(func(m guard.Mode) error {
		if err := open(); err != nil {
			return err
		}
		_, err := g.Return(m, g.clock())
		return err
	})
}

// begin has the agent told of guard modes from now on.
func (g *guarded) begin(a *Agent) {
	g.agent, g.reports = a, a.reports
	g.guard.Notify(g.changed)
	if g.guard.On() {
		g.changed()
	}
}

// onLost is what takes the hub's word that the store is an older copy; nil where nobody opens another.
func (g *guarded) onLost() func(was string, had uint64) {
	if !g.owned {
		return nil
	}
	return func(was string, had uint64) {
		select {
		case g.lost <- &RolledBackError{was, had}:
		default: // it is known
		}
	}
}

// changed says that guard mode is, and that nothing is proved: at once, and of all servers.
func (g *guarded) changed() {
	m, on := g.guard.Mode()
	if !on {
		return
	}
	g.reports.Raise(resource.CondGuardMode, m.Cause)
	if m.Reverted { // the hub that has said so may not know it any more
		g.reports.Raise(resource.CondAgentRolledBack, m.Cause)
	}
	g.reports.Unprove("the agent is in guard mode: it reads and forces off, and cannot record what would prove it")
	if l := g.agent.link; l != nil { // else its first Hello says so
		l.Guards()
	}
	g.agent.loops.LookAtAll()
	select {
	case g.begun <- struct{}{}:
	default:
	}
}

// recorded clears what was said of the store: something was written.
func (g *guarded) recorded() {
	if !g.guard.On() {
		g.reports.Clear(resource.CondGuardMode)
	}
}

// run leaves guard mode when the store can be written again, until ctx ends.
func (g *guarded) run(ctx context.Context) error {
	for {
		g.sayVolatile()
		select {
		case <-ctx.Done():
			return nil
		case <-g.guard.Dirty():
			if err := wait(ctx, guard.FlushAfter); err != nil {
				g.guard.Flush() // the last of it
				return nil
			}
			g.guard.Flush()
		case lost := <-g.lost:
			return lost
		case <-g.begun:
			if err := g.leave(ctx); err != nil {
				return err
			}
		}
	}
}

// leave returns when guard mode is over, or ctx.
func (g *guarded) leave(ctx context.Context) error {
	for failed := 0; ; {
		m, on := g.guard.Mode()
		if !on || m.Frozen { // who has frozen it opens another
			return nil
		}
		var held []string
		err := g.guard.Attempt(func(m guard.Mode) (err error) {
			held, err = g.Return(m, g.clock())
			return err
		})
		if err == nil {
			return g.over(held)
		}
		if failed++; !broken(err) {
			failed = 0
		}
		if g.owned && failed >= brokenAfter {
			return errors.Join(ErrStore, err)
		}
		if wait(ctx, guardTry) != nil {
			return nil
		}
	}
}

// over goes on as ever. held are servers with holds that came meanwhile.
func (g *guarded) over(held []string) error {
	g.reports.Prove()
	g.reports.Clear(resource.CondGuardMode)
	err := g.agent.index.read()
	if err != nil {
		g.agent.log.Error("cannot read what is on disk", "err", err)
	}
	g.agent.link.Guards()
	g.agent.lookAt(held)
	g.agent.loops.LookAtAll()
	return nil
}

// sayVolatile says whether the guard set would survive the process.
func (g *guarded) sayVolatile() {
	if why := g.guard.Volatile(); why != "" {
		g.reports.Raise(resource.CondGuardSetVolatile, why)
	} else {
		g.reports.Clear(resource.CondGuardSetVolatile)
	}
}

// broken says whether a store that fails so does not heal by itself.
func broken(err error) bool {
	return errors.Is(err, state.ErrClosed) || protocol.CodeOf(err) == protocol.CodeInternal
}

// wait returns nil after d, or why ctx has ended.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Guarding reports whether the agent is in guard mode.
func (a *Agent) Guarding() bool { return a.store.guard.On() }

// Head says what the agent's store has, and Anchor also by which names.
func (a *Agent) Head() store.Head { return a.store.Head() }

// Anchor is what somebody else is to know of the store.
func (a *Agent) Anchor() (store.Anchor, error) { return a.store.Anchor() }
