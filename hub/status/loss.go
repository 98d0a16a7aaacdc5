package status

import (
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// lost is the condition of everything while the store has lost something: what is not shown of it may be so all
// the same.
func (c *Room) lost() []resource.ConditionState {
	l := c.cfg.Start.Lost()
	if l == nil {
		return nil
	}
	return []resource.ConditionState{{Code: resource.CondStoreLost, Since: c.cfg.Began, Message: l.Error()}}
}

// doctorStore is what the store has lost.
func (c *Room) doctorStore() (out []api.DoctorFinding) {
	for _, s := range c.lost() {
		out = append(out, api.DoctorFinding{Code: s.Code, Target: "Hub/store", Message: s.Message, Blocks: true})
	}
	return out
}
