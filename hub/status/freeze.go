package status

import (
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// decorateFreeze counts the servers of a freeze.
func (c *Room) decorateFreeze(z *resource.Freeze) {
	now := c.cfg.Clock()
	z.Status.Over, z.Status.Servers, z.Status.Told = plan.Thawed(z, now), 0, 0
	if z.Status.Over {
		return
	}
	rack, all := "", []*resource.Server(nil)
	if r := z.Spec.RackRef; r != nil {
		rack, all = r.Name, c.cfg.View.Rack(r.Name).Servers
	} else {
		all = store.List[*resource.Server](c.cfg.Objects)
	}
	for _, s := range all {
		if !plan.Freezes(z, s, rack, now) {
			continue
		}
		z.Status.Servers++
		if r, _ := c.cfg.Reports.Server(s.Metadata.Name); r != nil && r.Condition(resource.CondFrozen) != nil {
			z.Status.Told++
		}
	}
}
