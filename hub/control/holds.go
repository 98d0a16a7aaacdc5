package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
)

// holdsAgain is when the hold documents are made again after an error.
const holdsAgain = 200 * time.Millisecond

// runHolds keeps the hold documents up to date beside the reconciling of everything
// else, which takes time that grows with the fleet: a hold waits for none of it. What
// else a hold document depends on, racks and their agents, each pass sees to.
func (c *Control) runHolds(ctx context.Context, group *errgroup.Group) {
	changed, stop := c.cfg.Store.SubscribeHolds()
	group.Go(func() error {
		defer stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-changed:
			case <-c.holdsPoked:
			}
			begun := time.Now()
			written, err := c.holds(ctx)
			for _, agent := range written {
				c.resendTo(agent, c.cfg.Clock())
			}
			if err != nil && ctx.Err() == nil {
				c.log.Warn("make the hold documents again", "err", err)
				time.AfterFunc(holdsAgain, c.poke)
			}
			rest(ctx, begun)
		}
	})
}

// holds brings the hold document of every agent up to date and returns the agents that
// have a new one. What is stored is read and written under one lock, so that no
// document is older than one before it.
func (c *Control) holds(ctx context.Context) (written []string, err error) {
	c.holding.Lock()
	defer c.holding.Unlock()
	if c.steppedDown() {
		return nil, nil
	}
	var errs []error
	for agent, d := range plan.CompileHolds(c.heldFleet()) {
		if c.contacts.see(agent).stage != stageReady {
			continue
		}
		news, err := c.enter(ctx, agent, func(e *entry) { e.put(protocol.LeafHold, &d, &d.Head, &d.IssuedAt, &d.Fence) })
		if err != nil {
			errs = append(errs, fmt.Errorf("ledger of %s: %w", agent, err))
		}
		if news {
			written = append(written, agent)
		}
	}
	return written, errors.Join(errs...)
}

// heldFleet is what hold documents depend on, which is little.
func (c *Control) heldFleet() plan.Fleet {
	s := c.cfg.Store
	f := plan.Fleet{Racks: store.List[*protocol.Rack](s), Holds: store.List[*protocol.Hold](s), Requests: c.openRequests()}
	for i, h := range f.Holds {
		if h.Status.Rack == "" { // accepted by an earlier version
			own := *h
			own.Status.Rack = c.rackOfHold(h)
			f.Holds[i] = &own
		}
	}
	f.Peers, f.Approvals = c.peers(f.Racks), c.signedApprovals()
	f.HoldsWait, f.ReleasesWait = c.waiting(f)
	return f
}

// openRequests are those that have not ended.
func (c *Control) openRequests() (out []plan.Request) {
	for _, q := range c.cfg.Store.OpenRequests() {
		out = append(out, plan.Request{Request: q.Request, Rack: q.Rack})
	}
	return out
}
