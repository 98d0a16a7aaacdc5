package control

import (
	"context"

	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/protocol/resource"
)

// Took has this hub work a unit that another one, or nobody, has worked: its agents are asked for a Hello, and are told
// under which fence.
func (c *Control) Took(unit string) {
	for _, agent := range c.agentsOf(unit) {
		if !c.Link.Takes(agent) {
			c.beside.announces.Store(true)
		}
	}
	c.wake.Unit(unit)
}

// Left forgets what this hub knew of the agents of a unit that another one works now.
func (c *Control) Left(unit string) {
	for _, agent := range c.agentsOf(unit) {
		c.Link.Forget(agent)
	}
}

// Whole has agents tell all that they report once more, because another hub lacks some of it.
func (c *Control) Whole() { c.reports.Whole() }

// agentsOf are the agents of a unit: who serves the rack, and who stands by.
func (c *Control) agentsOf(unit string) (out []string) {
	name, is := wake.RackOf(unit)
	if !is {
		return nil
	}
	rack, err := store.Peek[*resource.Rack](c.cfg.Store.Objects, name)
	if err != nil {
		return nil // it is gone
	}
	for _, agent := range []string{rack.Status.Agent, rack.Status.Standby} {
		if agent != "" {
			out = append(out, agent)
		}
	}
	return out
}

// followFor bounds how long it is waited for what others have filed.
const followFor = tickPause

// shared is what is due each second where hubs share the store.
func (c *Control) shared() {
	if !c.fence.Shares() {
		return
	}
	if c.beside.announces.Swap(false) {
		c.Link.Announce()
	}
	ctx, cancel := context.WithTimeout(context.Background(), followFor)
	defer cancel()
	if err := c.Events.Follow(ctx); err != nil { // while the store is away, which who looks at its health says
		c.cfg.Logger.Debug("what other hubs have filed was not read; it is tried again", "err", err)
	}
}
