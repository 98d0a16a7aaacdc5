package inventory

import (
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// Carried says why a server's BMC cannot carry a boot policy; nil where it can, and where
// that is not known.
func (c *Room) Carried(srv *resource.Server, policy resource.BootPolicy) *resource.ConditionState {
	b, err := store.Peek[*resource.BMC](c.cfg.Store.Objects, srv.Spec.BMCRef.Name)
	if err != nil {
		return nil
	}
	inv := c.cfg.Store.Inventories.Peek(b.Metadata.Name, b.Metadata.UID)
	if inv == nil || plan.Carries(policy.FirstBoot, inv.System(srv.Spec.SystemURI)) {
		return nil
	}
	return &resource.ConditionState{
		Code: resource.CondUnsupportedBoot, Message: "first boot " + string(policy.FirstBoot) + ": BMC " + b.Metadata.Name + " has no drive for CD images",
	}
}
