package control

import (
	"context"
	"errors"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/protocol/resource"
)

// rackTurn is one turn of a rack. Each step writes one key, and a turn that a crash cut off is
// completed by the next. What cannot be done for one claim stops no other, and never a hold.
// Between two steps that write, what they depend on is read again.
func (c *Control) rackTurn(ctx context.Context, rack string) error {
	c.sharing.RLock()
	defer c.sharing.RUnlock()
	v := c.look(of(wake.RackUnit(rack)))
	c.Env.Begin(v.Fleet)
	errs := []error{c.vacate(ctx, v.Fleet)}
	v = c.look(v)
	errs = append(errs, c.Inventory.Find(ctx, v.Fleet))
	v = c.look(v)
	errs = append(errs, c.Inventory.SeeBehind(ctx, v.Fleet))
	v = c.look(v)
	errs = append(errs, c.owners(ctx, v))
	v = c.look(v)
	errs = append(errs, c.Env.InForce(ctx, v.Fleet), c.removeReleased(ctx, v.Fleet), c.Approvals.Turn(ctx, v.Fleet), c.compile(ctx, v))
	// Afterwards: a hold is on its way before it is written about.
	for _, h := range store.Find(c.cfg.Store, store.HoldsByRack, rack) {
		errs = append(errs, c.Events.AuditHold(ctx, h))
	}
	return errors.Join(errs...)
}

// owners moves along what wants servers: claims, maintenances and discoveries.
func (c *Control) owners(ctx context.Context, v view) error {
	f := v.Fleet
	conds := map[string][]resource.ConditionState{}
	var errs []error
	for _, cl := range f.Claims {
		more, err := c.claim(ctx, f, cl)
		errs = append(errs, err)
		conds[cl.Metadata.Name] = more
	}
	for _, m := range f.Maintenances {
		conds[bookName(m)] = f.Maintained(m, c.Env.IgnitionOf(m.Spec.Boot.IgnitionSecretRef))
	}
	c.conds.Keep(f.Of, conds, c.cfg.Clock())
	v = c.look(v)
	errs = append(errs, c.maintenances(ctx, v.Fleet))
	v = c.look(v)
	return errors.Join(append(errs, c.discoveries(ctx, v.Fleet))...)
}

// vacate frees racks whose agent was deleted, or whose term was ended. The term stays, so that what the
// deleted agent still says or hears is refused.
func (c *Control) vacate(ctx context.Context, f plan.Fleet) error {
	there := map[string]bool{}
	for _, a := range f.Agents {
		there[a.Metadata.Name] = true
	}
	for _, r := range f.Racks {
		_, over := c.Terms.EndingOf(r.Status.Agent)
		if r.Status.Agent == "" || !over && there[r.Status.Agent] {
			continue
		}
		var servers []string
		for _, s := range f.ServersIn(r.Metadata.Name) {
			servers = append(servers, s.Metadata.Name)
		}
		c.reports.Drop(r.Status.Agent, servers)
		c.Link.Forget(r.Status.Agent)
		c.Inventory.Drop(r.Metadata.Name)
		own := store.Copy(c.cfg.Store, r)
		own.Status.Agent = ""
		if err := c.cfg.Store.Put(ctx, own); err != nil {
			return err
		}
	}
	return nil
}
