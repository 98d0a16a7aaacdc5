package control

import (
	"context"

	"rackboot/hub/store"
	"rackboot/hub/wake"
)

// holdTurn has the hold document of a rack made.
func (c *Control) holdTurn(ctx context.Context, rack string) error {
	unit := wake.RackUnit(rack)
	if !c.fence.Works(unit) {
		return nil
	}
	return c.Outbound.Holds.Turn(c.fence.Under(ctx, unit), rack)
}

// turn is one turn of a unit. All of it gives way to holds, whose documents have a lane of their own.
func (c *Control) turn(ctx context.Context, unit string) error {
	if !c.fence.Works(unit) {
		return nil // of another hub, whose turn it is
	}
	ctx = c.fence.Under(store.Patient(ctx), unit)
	c.cfg.Store.Haste.GiveWay(ctx)
	if rack, is := wake.RackOf(unit); is {
		return c.rackTurn(ctx, rack)
	}
	return c.siteTurn(ctx)
}
