package control

import (
	"slices"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
)

func stateOf(b *protocol.BMC) protocol.BMCState {
	if b.Pending() {
		return protocol.BMCPending
	}
	return protocol.BMCAccepted
}

func (c *Control) decorateBMC(b *protocol.BMC) {
	name := b.Metadata.Name
	b.Status.State, b.Status.Address = stateOf(b), b.Reach()
	if seen := c.found.see(b); seen != nil {
		b.Status.Found = seen
	}
	b.Status.Servers = c.readings.servers(b)
	if inv := c.cfg.Store.PeekInventory(name, b.Metadata.UID); inv != nil {
		at := inv.At
		b.Status.Inventory, b.Status.InventoryAt = slices.Clone(inv.Systems), &at
	}
	if secret, err := store.Peek[*protocol.Secret](c.cfg.Store, protocol.SecretOf(b.Spec.CredentialsRef)); err == nil && secret.Status.Rotation != nil && secret.Status.Rotation.BMC == name {
		own := *secret.Status.Rotation
		b.Status.Rotation = &own
	}
	b.Status.Conditions = c.bmcConds.Of(name)
}

// decorateClasses fills what the inventory says of a server's safe stop and of how
// its power is watched.
func (c *Control) decorateClasses(f plan.Fleet, s *protocol.Server) {
	if len(f.BMCs) != 1 {
		return
	}
	b := f.BMCs[0]
	if inv := c.cfg.Store.PeekInventory(b.Metadata.Name, b.Metadata.UID); inv != nil {
		if sys := systemOf(inv, s.Spec.SystemURI); sys != nil {
			s.Status.SafeStop, s.Status.Detection = sys.SafeStop.Class, sys.Detection.Class
		}
	}
}

func systemOf(inv *store.Inventory, uri string) *protocol.Inventory {
	for i := range inv.Systems {
		if inv.Systems[i].SystemURI == uri || uri == "" && len(inv.Systems) == 1 {
			return &inv.Systems[i]
		}
	}
	return nil
}
