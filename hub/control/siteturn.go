package control

import (
	"context"
	"errors"
	"strings"

	"rackboot/hub/discovery"
	"rackboot/hub/groups"
	"rackboot/hub/images"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/hub/view"
	"rackboot/hub/wake"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// siteTurn is one turn of what concerns several racks: which server a claim gets by its selector, the
// groups and their roll-outs, the catalogue, marks and wishes whose time is over, and what is in no rack.
// The fleet is read only where somebody waits for what it says.
func (c *Control) siteTurn(ctx context.Context) error {
	errs := []error{c.Approvals.Sweep(ctx), c.Outbound.Firmware.Turn(ctx)}
	c.boots.images.Turn(ctx)
	sweep := c.wake.Sweeping.Swap(false)
	v, err := c.Owners.Claims.Offer(ctx)
	errs = append(errs, err, c.share(ctx, v), c.withoutRack(ctx, sweep))
	if sweep {
		if err := c.sweepAll(ctx); err != nil {
			c.wake.Sweeping.Store(true)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// share gives seats to roll-outs, where there are groups. No rack takes a turn meanwhile: they spend
// what is given here, and what they spent is counted here.
func (c *Control) share(ctx context.Context, v view.View) error {
	if len(store.List[*resource.ServerGroup](c.cfg.Store.Objects)) > 0 {
		if err := c.beside.sharing.Acquire(ctx, shareAll); err != nil {
			return protocol.Errorf(protocol.CodeTimeout, "give seats to roll-outs", "racks and site share: %w", err)
		}
		defer c.beside.sharing.Release(shareAll)
		v = c.view.Look(v)
	}
	return c.Groups.Turn(ctx, v.Fleet)
}

// withoutRack moves along what is in no rack.
func (c *Control) withoutRack(ctx context.Context, all bool) error {
	v := c.view.Look(view.View{Fleet: plan.Fleet{Of: view.Outside}, All: all})
	c.Env.Begin(v.Fleet)
	return c.served(ctx, v)
}

// sweepAll removes what nothing needs any more.
func (c *Control) sweepAll(ctx context.Context) error {
	s := c.cfg.Store
	errs := []error{
		s.Inventories.Sweep(ctx), s.Credentials.Sweep(ctx), s.Ignitions.Sweep(ctx), s.Envs.Sweep(ctx, plan.EnvNeeded), c.Outbound.Requests.Sweep(ctx),
	}
	units := map[string]bool{view.Outside: true, wake.SiteUnit: true}
	for _, r := range store.List[*resource.Rack](s.Objects) {
		units[wake.RackUnit(r.Metadata.Name)] = true
	}
	for _, room := range []interface{ Forget(units map[string]bool) }{c.Owners.Claims, c.Owners.Maintenance, c.Owners.Discovery, c.Inventory, c.Env} {
		room.Forget(units)
	}
	c.forgetImages()
	holds := map[string]bool{}
	for _, h := range store.List[*resource.Hold](s.Objects) {
		holds[h.Metadata.Name] = true
	}
	c.Events.Forget(holds)
	return errors.Join(errs...)
}

// forgetImages ends the questions of owners that are no more: a maintenance that has not
// begun is deleted at once.
func (c *Control) forgetImages() {
	there := map[string]bool{}
	for _, cl := range store.List[*resource.Claim](c.cfg.Store.Objects) {
		there[cl.Metadata.UID] = true
	}
	for _, m := range store.List[*resource.Maintenance](c.cfg.Store.Objects) {
		there[m.Metadata.UID] = true
	}
	for _, r := range store.List[*resource.Rack](c.cfg.Store.Objects) {
		if r.Spec.Discovery != nil {
			discovery.Askers(r, c.view.Rack(r.Metadata.Name), there)
		}
	}
	c.boots.images.Forget(func(asker string) bool {
		return !there[asker] && !strings.HasPrefix(asker, images.EnvAskers) && !strings.HasPrefix(asker, groups.Askers)
	})
}
