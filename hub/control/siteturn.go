package control

import (
	"context"
	"errors"

	"rackboot/hub/conditions"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/protocol/resource"
)

// siteTurn is one turn of what concerns several racks: which server a claim gets, the groups and
// their roll-outs, the catalogue, marks and wishes whose time is over, and what is in no rack.
// The fleet is read only where somebody waits for what it says.
func (c *Control) siteTurn(ctx context.Context) error {
	errs := []error{c.Approvals.Sweep(ctx), c.firmwareOver(ctx)}
	c.images.Turn(ctx)
	sweep := c.wake.Sweeping.Swap(false)
	errs = append(errs, c.allot(ctx), c.withoutRack(ctx, sweep))
	if sweep {
		if err := c.sweepAll(ctx); err != nil {
			c.wake.Sweeping.Store(true)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// allot gives servers to claims, and to roll-outs. No rack takes a turn meanwhile: they spend
// what is given here, and what they spent is counted here.
func (c *Control) allot(ctx context.Context) error {
	unbound, groups := store.Find(c.cfg.Store, store.ClaimsUnbound, store.Any), store.List[*resource.ServerGroup](c.cfg.Store)
	c.wake.Waits(len(unbound) > 0, len(groups) > 0)
	v := view{Fleet: plan.Fleet{Of: wake.SiteUnit, Now: c.cfg.Clock()}}
	if len(unbound) > 0 || len(groups) > 0 {
		c.sharing.Lock()
		defer c.sharing.Unlock()
		v = c.look(v)
	}
	var errs []error
	bindings, left := plan.Bind(v.Fleet)
	for _, b := range bindings {
		errs = append(errs, c.bind(ctx, b))
	}
	conds := map[string][]resource.ConditionState{}
	for _, u := range left {
		conds[u.Claim] = []resource.ConditionState{{Code: resource.CondUnbound, Message: u.Reason}}
	}
	c.unbound.Keep(wake.SiteUnit, conds, c.cfg.Clock())
	if len(groups) > 0 {
		v = c.look(v)
	}
	return errors.Join(append(errs, c.Groups.Turn(ctx, v.Fleet))...)
}

// withoutRack moves along what is in no rack.
func (c *Control) withoutRack(ctx context.Context, all bool) error {
	v := c.look(view{Fleet: plan.Fleet{Of: outsideUnit}, all: all})
	c.Env.Begin(v.Fleet)
	return c.owners(ctx, v)
}

// sweepAll removes what nothing needs any more.
func (c *Control) sweepAll(ctx context.Context) error {
	s := c.cfg.Store
	errs := []error{
		s.SweepInventories(ctx), s.SweepSealed(ctx), s.SweepIgnitions(ctx), s.SweepEnvs(ctx, plan.EnvNeeded), c.sweep(ctx),
	}
	units := map[string]bool{outsideUnit: true}
	for _, r := range store.List[*resource.Rack](s) {
		units[wake.RackUnit(r.Metadata.Name)] = true
	}
	for _, b := range []*conditions.Book{c.conds, c.discoveryConds} {
		b.Forget(units)
	}
	c.Inventory.Forget(units)
	c.Env.Forget(units)
	c.forgetImages()
	holds := map[string]bool{}
	for _, h := range store.List[*resource.Hold](s) {
		holds[h.Metadata.Name] = true
	}
	c.Events.Forget(holds)
	return errors.Join(errs...)
}
