package control

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"rackboot/hub/link"
	"rackboot/hub/wake"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
)

// holdTurn brings the hold document of one rack up to date beside everything else, and sends it:
// a hold waits for nothing else. What it depends on but holds, each turn of the rack sees to.
func (c *Control) holdTurn(ctx context.Context, rack string) error {
	agent, written, err := c.holdsOf(ctx, rack)
	if written {
		c.Link.SendTo(agent, c.cfg.Clock())
	}
	return err
}

// holdsOf brings the hold document of a rack's agent up to date. What is stored is read and
// written under one lock, so that no document is older than one before it.
func (c *Control) holdsOf(ctx context.Context, rack string) (agent string, written bool, err error) {
	lock := &c.holding[hash(rack)%uint32(len(c.holding))]
	lock.Lock()
	defer lock.Unlock()
	if c.fence.SteppedDown() {
		return "", false, nil
	}
	f := c.heldFleet(rack)
	var errs []error
	for agent, d := range plan.CompileHolds(f) { // of one rack, which has one agent at most
		if !c.Link.Ready(agent) {
			continue
		}
		news, err := c.Link.Enter(ctx, agent, func(e *link.Entry) { e.Put(protocol.LeafHold, &d, &d.Head, &d.IssuedAt, &d.Fence) })
		if err != nil {
			errs = append(errs, fmt.Errorf("ledger of %s: %w", agent, err))
		}
		if news {
			return agent, true, errors.Join(errs...)
		}
	}
	return "", false, errors.Join(errs...)
}

func hash(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // which never fails
	return h.Sum32()
}

// heldFleet is what the hold document of a rack depends on, which is little.
func (c *Control) heldFleet(rack string) plan.Fleet {
	s := c.cfg.Store
	f := plan.Fleet{Of: wake.RackUnit(rack), Holds: store.Find(s, store.HoldsByRack, rack), Requests: openRequests(s.OpenRequestsOf(rack))}
	r, err := store.Peek[*protocol.Rack](s, rack)
	if err != nil {
		return f
	}
	f.Racks = []*protocol.Rack{r}
	f.Peers, f.Approvals = c.Link.Peers(f.Racks), c.signedApprovals()
	f.HoldsWait, f.ReleasesWait = c.waiting(f)
	return f
}
