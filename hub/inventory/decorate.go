package inventory

import (
	"slices"

	"rackboot/hub/conditions"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// StateOf is how far a BMC has come.
func StateOf(b *resource.BMC) resource.BMCState {
	if b.Pending() {
		return resource.BMCPending
	}
	return resource.BMCAccepted
}

// Decorate fills what is known of a BMC for printing.
func (c *Room) Decorate(b *resource.BMC) {
	name := b.Metadata.Name
	b.Status.State, b.Status.Address = StateOf(b), b.Reach()
	if seen := c.found.see(b); seen != nil {
		b.Status.Found = seen
	}
	b.Status.Servers = c.readings.servers(b)
	if inv := c.cfg.Store.Inventories.Peek(name, b.Metadata.UID); inv != nil {
		at := inv.At
		b.Status.Inventory, b.Status.InventoryAt = slices.Clone(inv.Systems), &at
		for i := range b.Status.Inventory {
			b.Status.Inventory[i].Firmware = nil // values may be secret
		}
	}
	if secret, err := store.Peek[*resource.Secret](c.cfg.Store.Objects, resource.SecretOf(b.Spec.CredentialsRef)); err == nil && secret.Status.Rotation != nil && secret.Status.Rotation.BMC == name {
		own := *secret.Status.Rotation
		b.Status.Rotation = &own
	}
	b.Status.Conditions = c.bmcConds.Of(name)
}

// AllConditions are what the last turns saw of all BMCs, by name. The lists are shared.
func (c *Room) AllConditions() map[string][]resource.ConditionState { return c.bmcConds.All() }

// LeftOut is how many BMCs of a rack were found and left out.
func (c *Room) LeftOut(rack string) int { return c.found.leftOut(rack) }

// Drop forgets what was found in a rack, because it has no agent any more.
func (c *Room) Drop(rack string) { c.found.drop(rack) }

// ServerConditions are what the last turn saw of a server's BMC.
func (c *Room) ServerConditions(server string) []resource.ConditionState {
	return c.serverConds.Of(server)
}

// AgentConditions are what the last turn saw of what an agent has found.
func (c *Room) AgentConditions(agent string) []resource.ConditionState {
	return c.agentConds.Of(agent)
}

// Forget forgets what units, and BMCs, have said that are gone.
func (c *Room) Forget(units map[string]bool) {
	c.readings.forget(store.List[*resource.BMC](c.cfg.Store.Objects))
	for _, b := range []*conditions.Book{c.bmcConds, c.serverConds, c.agentConds} {
		b.Forget(units)
	}
}
