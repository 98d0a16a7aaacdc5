package control

import (
	"context"
	"fmt"

	"rackboot/hub/link"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
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

// holdsOf brings the hold document of a rack's agent up to date. What is stored is read after the ledger
// that it is entered in, and again when somebody else has entered one: no document is older than
// one before it.
func (c *Control) holdsOf(ctx context.Context, rack string) (agent string, written bool, err error) {
	r, err := store.Peek[*resource.Rack](c.cfg.Store, rack)
	if err != nil || r.Status.Agent == "" || c.fence.SteppedDown() || !c.Link.Ready(r.Status.Agent) {
		return "", false, nil //nolint:nilerr // it is gone
	}
	agent = r.Status.Agent
	written, err = c.Link.Enter(ctx, agent, func(e *link.Entry) {
		if d, there := plan.CompileHolds(c.heldFleet(rack))[agent]; there {
			e.Put(message.LeafHold, &d, &d.Head, &d.IssuedAt, &d.Fence)
		}
	})
	if err != nil {
		return agent, false, fmt.Errorf("ledger of %s: %w", agent, err)
	}
	return agent, written, nil
}

// heldFleet is what the hold document of a rack depends on, which is little.
func (c *Control) heldFleet(rack string) plan.Fleet {
	s := c.cfg.Store
	f := plan.Fleet{Of: wake.RackUnit(rack), Holds: store.Find(s, store.HoldsByRack, rack), Requests: openRequests(s.OpenRequestsOf(rack))}
	r, err := store.Peek[*resource.Rack](s, rack)
	if err != nil {
		return f
	}
	f.Racks = []*resource.Rack{r}
	f.Peers, f.Approvals = c.Link.Peers(f.Racks), c.Approvals.Signed()
	f.HoldsWait, f.ReleasesWait = c.waiting(f)
	return f
}
