package control

import (
	"context"

	"rackboot/hub/store"
	"rackboot/hub/wake"
)

// turn is one turn of a unit. All of it gives way to holds, whose documents have a lane of their own.
func (c *Control) turn(ctx context.Context, unit string) error {
	if c.fence.SteppedDown() {
		return nil
	}
	ctx = store.Patient(ctx)
	c.cfg.Store.Haste.GiveWay(ctx)
	if rack, is := wake.RackOf(unit); is {
		return c.rackTurn(ctx, rack)
	}
	return c.siteTurn(ctx)
}
