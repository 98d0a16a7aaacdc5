package status

import "rackboot/protocol/resource"

// Decorate fills the status of a resource that is about to be printed from the
// mirror of reports. Nothing of it is stored.
func (c *Room) Decorate(obj resource.Object) {
	switch o := obj.(type) {
	case *resource.Server:
		c.decorateServer(o)
	case *resource.BMC:
		c.cfg.Inventory.Decorate(o)
	case *resource.Claim:
		c.decorateClaim(o)
	case *resource.AgentUpgrade:
		c.cfg.Upgrades.Decorate(o)
	case *resource.Freeze:
		c.decorateFreeze(o)
	case *resource.Maintenance:
		c.decorateMaintenance(o)
	case *resource.Rack:
		if s := c.cfg.Approvals.Stance(o); o.Status.Agent != "" {
			o.Status.Approvals = &s
		}
	case *resource.Hold:
		c.decorateHold(o)
	case *resource.Agent:
		c.decorateAgent(o)
	case *resource.Secret:
		c.cfg.Inventory.DecorateSecret(o)
	case *resource.BootEnv:
		c.cfg.Env.Decorate(o)
	case *resource.BootImage:
		o.Status.Conditions = c.cfg.Images.Conditions(o.Metadata.Name)
	case *resource.ServerGroup:
		c.cfg.Groups.Decorate(o)
	case *resource.BootConfiguration:
		o.Status.State = resource.BootConfigReady
		r, _ := c.cfg.Reports.Server(o.Spec.Server)
		if r != nil && r.Attempt != nil && r.OwnerUID == o.Spec.Owner.UID {
			o.Status.HTTPBootURI = r.Attempt.URI
		}
		o.Status.EvidenceClass, o.Status.Secrets = ClassOf(o), WayOf(o, r)
	}
}
