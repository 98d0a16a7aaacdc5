package control

import (
	"context"
	"errors"

	"rackboot/hub/store"
	"rackboot/protocol"
)

// reconcile takes a turn of every unit: what racks bring to the site, and what it gives them.
func (c *Control) reconcile(ctx context.Context) error {
	var errs []error
	racks := func() {
		for _, r := range store.List[*protocol.Rack](c.cfg.Store) {
			if !c.steppedDown() {
				errs = append(errs, c.rackTurn(ctx, r.Metadata.Name))
			}
		}
	}
	racks()
	c.units.sweep.Store(true)
	if !c.steppedDown() {
		errs = append(errs, c.siteTurn(ctx))
	}
	racks()
	return errors.Join(errs...)
}

// holds brings the hold documents of all racks up to date, and nothing else.
func (c *Control) holds(ctx context.Context) (written []string, err error) {
	for _, r := range store.List[*protocol.Rack](c.cfg.Store) {
		agent, news, failed := c.holdsOf(ctx, r.Metadata.Name)
		if err = errors.Join(err, failed); news {
			written = append(written, agent)
		}
	}
	return written, err
}

// sleep forgets whom to wake.
func (c *Control) sleep() {
	u := newUnits(c)
	c.units.racks, c.units.holds = u.racks, u.holds
}
