package holds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rackboot/hub/link"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/hub/view"
	"rackboot/hub/wake"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// answersIn is for how long background work gives way to an agent's answer to a hold document, which
// mostly comes sooner.
const answersIn = 40 * time.Millisecond

// Turn brings the hold document of one rack up to date beside everything else, and sends it:
// a hold waits for nothing else. What it depends on but holds, each turn of the rack sees to. Then the holds leave
// that the agent has released.
func (r *Room) Turn(ctx context.Context, rack string) error {
	done := r.cfg.Store.Haste.Hurry()
	agent, written, err := r.enter(ctx, rack)
	if agent != "" { // a turn of the rack may have written it, and be on its way to send it
		r.cfg.Link.SendTo(agent, r.cfg.Clock())
	}
	if written {
		time.AfterFunc(answersIn, done)
	} else {
		done()
	}
	return errors.Join(err, r.leave(ctx, rack), r.settled(ctx, rack))
}

// Enter brings the hold document of one rack up to date. Who calls it sends.
func (r *Room) Enter(ctx context.Context, rack string) error {
	_, _, err := r.enter(ctx, rack)
	return err
}

// enter reads what is stored after the ledger that the document is entered in, and again when somebody else
// has entered one: no document is older than one before it.
func (r *Room) enter(ctx context.Context, name string) (agent string, written bool, err error) {
	rack, err := store.Peek[*resource.Rack](r.cfg.Store.Objects, name)
	if err != nil || rack.Status.Agent == "" || !r.cfg.Start.WorksFor(rack.Status.Agent) || !r.cfg.Link.MayHold(rack.Status.Agent) {
		return "", false, nil //nolint:nilerr // it is gone
	}
	agent = rack.Status.Agent
	written, err = r.cfg.Link.Enter(ctx, agent, func(e *link.Entry) {
		if d, there := plan.CompileHolds(r.fleet(name))[agent]; there {
			e.Put(message.LeafHold, &d, &d.Head, &d.IssuedAt, &d.Fence)
		}
	})
	if err != nil {
		return agent, false, fmt.Errorf("ledger of %s: %w", agent, err)
	}
	return agent, written, nil
}

// fleet is what the hold document of a rack depends on, which is little.
func (r *Room) fleet(name string) plan.Fleet {
	s := r.cfg.Store
	f := plan.Fleet{Of: wake.RackUnit(name), Holds: store.Find(s.Objects, store.HoldsByRack, name), Requests: view.OpenRequests(s.Requests.OpenOf(name))}
	rack, err := store.Peek[*resource.Rack](s.Objects, name)
	if err != nil {
		return f
	}
	f.Racks = []*resource.Rack{rack}
	f.Peers, f.Made.Approvals = r.cfg.Link.Ledgers.Peers(f.Racks), r.cfg.Approvals.Signed()
	f.Made.HoldsWait, f.Made.ReleasesWait = r.waiting(f)
	return f
}
