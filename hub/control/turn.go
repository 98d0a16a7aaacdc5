package control

import (
	"context"
	"rackboot/hub/wake"
)

// turn is one turn of a unit.
func (c *Control) turn(ctx context.Context, unit string) error {
	if c.fence.SteppedDown() {
		return nil
	}
	if rack, is := wake.RackOf(unit); is {
		return c.rackTurn(ctx, rack)
	}
	return c.siteTurn(ctx)
}
