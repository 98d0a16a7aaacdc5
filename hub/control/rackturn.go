package control

import (
	"context"
	"errors"
	"slices"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/hub/view"
	"rackboot/hub/wake"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// rackTurn is one turn of a rack. Each step writes one key, and a turn that a crash cut off is
// completed by the next. What cannot be done for one claim stops no other, and never a hold.
// Between two steps that write, what they depend on is read again.
func (c *Control) rackTurn(ctx context.Context, rack string) error {
	if err := c.beside.sharing.Acquire(ctx, shareOne); err != nil {
		return protocol.Errorf(protocol.CodeTimeout, "take a turn of rack "+rack, "racks and site share: %w", err)
	}
	defer c.beside.sharing.Release(shareOne)
	v := c.view.Look(view.Of(wake.RackUnit(rack)))
	c.Env.Begin(v.Fleet)
	errs := []error{c.vacate(ctx, v.Fleet)}
	v = c.view.Look(v)
	errs = append(errs, c.Inventory.Find(ctx, v.Fleet))
	v = c.view.Look(v)
	errs = append(errs, c.Inventory.SeeBehind(ctx, v.Fleet))
	v = c.view.Look(v)
	errs = append(errs, c.Owners.Claims.Allot(ctx, v.Fleet))
	v = c.view.Look(v)
	errs = append(errs, c.served(ctx, v))
	v = c.view.Look(v)
	errs = append(errs, c.Env.InForce(ctx, v.Fleet), c.Approvals.Turn(ctx, v.Fleet), c.send(ctx, v, rack))
	// Afterwards: a hold is on its way before it is written about.
	for _, h := range store.Find(c.cfg.Store.Objects, store.HoldsByRack, rack) {
		errs = append(errs, c.Events.AuditHold(ctx, h))
	}
	return errors.Join(errs...)
}

// served moves along what wants servers: claims, maintenances and discoveries.
func (c *Control) served(ctx context.Context, v view.View) error {
	errs := []error{c.Owners.Claims.Turn(ctx, v.Fleet)}
	v = c.view.Look(v)
	errs = append(errs, c.Owners.Maintenance.Turn(ctx, v.Fleet))
	v = c.view.Look(v)
	return errors.Join(append(errs, c.Owners.Discovery.Turn(ctx, v.Fleet))...)
}

// send makes the documents of a rack's agent, and sends them; the hold document first.
func (c *Control) send(ctx context.Context, v view.View, rack string) error {
	v = c.view.Look(v)
	errs := []error{c.Outbound.Dispatch.Give(ctx, v.Fleet), c.Outbound.Holds.Enter(ctx, rack)}
	if slices.ContainsFunc(v.Holds, func(h *resource.Hold) bool { return h.Status.ReleasedAt != nil }) {
		c.wake.Holds.Wake(rack) // which removes those that are off the agent's disk
	}
	v = c.view.Look(v) // as it is on disk
	return errors.Join(append(errs, c.Outbound.Dispatch.Compile(ctx, v.Fleet))...)
}

// vacate frees racks whose agent was deleted, or whose term was ended, and likewise the place of who stands by.
// The term stays, so that what the deleted agent still says or hears is refused.
func (c *Control) vacate(ctx context.Context, f plan.Fleet) error {
	there := map[string]bool{}
	for _, a := range f.Agents {
		there[a.Metadata.Name] = true
	}
	gone := func(agent string) bool {
		_, over := c.Terms.EndingOf(agent)
		return agent != "" && (over || !there[agent])
	}
	for _, r := range f.Racks {
		active, standby := gone(r.Status.Agent), gone(r.Status.Standby)
		if !active && !standby {
			continue
		}
		own := store.Copy(c.cfg.Store.Objects, r)
		if active {
			c.left(r.Metadata.Name, r.Status.Agent)
			own.Status.Agent = ""
		}
		if standby {
			c.left("", r.Status.Standby)
			own.Status.Standby = ""
		}
		if err := c.cfg.Store.Objects.Put(ctx, own); err != nil {
			return err
		}
	}
	return nil
}

// left forgets what an agent said that belongs to a rack no more; of one that served it, also what it said of the
// rack, which is named then.
func (c *Control) left(rack, agent string) {
	var servers []string
	if rack != "" {
		for _, s := range c.view.Rack(rack).Servers {
			servers = append(servers, s.Metadata.Name)
		}
		c.Inventory.Drop(rack)
	}
	c.reports.Drop(agent, servers)
	c.Link.Forget(agent)
}
