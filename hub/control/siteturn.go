package control

import (
	"context"
	"errors"
	"slices"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
)

// siteTurn is one turn of what concerns several racks: which server a claim gets, the groups and
// their roll-outs, the catalogue, marks and wishes whose time is over, and what is in no rack.
// The fleet is read only where somebody waits for what it says, or for a sweep.
func (c *Control) siteTurn(ctx context.Context) error {
	errs := []error{c.sweepApprovals(ctx), c.firmwareOver(ctx)}
	c.bootImages(ctx)
	sweep := c.units.sweep.Swap(false)
	unbound, groups := store.Find(c.cfg.Store, store.ClaimsUnbound, store.Any), store.List[*protocol.ServerGroup](c.cfg.Store)
	c.units.unbound.Store(len(unbound) > 0)
	c.units.grouped.Store(len(groups) > 0)
	if len(unbound) == 0 && len(groups) == 0 && !sweep {
		c.conds.keep(outsideUnit, nil, c.cfg.Clock())
		return errors.Join(append(errs, c.manageGroups(ctx, plan.Fleet{Now: c.cfg.Clock()}))...)
	}
	c.units.sharing.Lock()
	defer c.units.sharing.Unlock()
	v := c.look(of(siteUnit))
	bindings, left := plan.Bind(v.Fleet)
	for _, b := range bindings {
		errs = append(errs, c.bind(ctx, b))
	}
	errs = append(errs, c.manageGroups(ctx, c.look(v).Fleet))
	conds := map[string][]protocol.ConditionState{}
	for _, u := range left {
		conds[u.Claim] = append(conds[u.Claim], protocol.ConditionState{Code: protocol.CondUnbound, Message: u.Reason})
	}
	v = c.look(of(outsideUnit))
	c.envs.begin(v.Fleet)
	errs = append(errs, c.owners(ctx, v, conds))
	if sweep {
		if err := c.sweepAll(ctx); err != nil {
			c.units.sweep.Store(true)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// outsideUnit is the part of the site's turn that is about what is in no rack.
const outsideUnit = "outside"

// outside is of a fleet what is in no rack: claims that have no server yet, and what names a
// server that is gone. It still finds everything by name.
func outside(f plan.Fleet) plan.Fleet {
	in := func(server string) bool { return f.Rack(f.RackOf(server)) != nil }
	f.Of = outsideUnit
	f.Servers = slices.DeleteFunc(slices.Clone(f.Servers), func(s *protocol.Server) bool { return in(s.Metadata.Name) })
	f.Claims = slices.DeleteFunc(slices.Clone(f.Claims), func(cl *protocol.Claim) bool { return in(cl.Status.Server) })
	f.Maintenances = slices.DeleteFunc(slices.Clone(f.Maintenances), func(m *protocol.Maintenance) bool { return in(m.Spec.ServerRef.Name) })
	f.Configs = slices.DeleteFunc(slices.Clone(f.Configs), func(b *protocol.BootConfiguration) bool { return in(b.Spec.Server) })
	return f
}

// sweepAll removes what nothing needs any more.
func (c *Control) sweepAll(ctx context.Context) error {
	s := c.cfg.Store
	errs := []error{
		s.SweepInventories(ctx), s.SweepSealed(ctx), s.SweepIgnitions(ctx), s.SweepEnvs(ctx, plan.EnvNeeded), c.sweep(ctx),
	}
	c.readings.forget(store.List[*protocol.BMC](s))
	units := map[string]bool{outsideUnit: true}
	for _, r := range store.List[*protocol.Rack](s) {
		units[rackUnit(r.Metadata.Name)] = true
	}
	for _, b := range []*condBook{c.conds, c.bmcConds, c.serverConds, c.agentConds, c.discoveryConds} {
		b.forget(units)
	}
	c.envs.forget(units)
	c.forgetImages(c.fleet())
	c.forgetEnvImages()
	holds := map[string]bool{}
	for _, h := range store.List[*protocol.Hold](s) {
		holds[h.Metadata.Name] = true
	}
	c.events.forget(holds)
	return errors.Join(errs...)
}
