package status

import (
	"fmt"
	"slices"

	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func (c *Room) decorateAgent(a *resource.Agent) {
	name, now := a.Metadata.Name, c.cfg.Clock()
	r, at, ok := c.cfg.Reports.Agent(name)
	if ok {
		got := at
		a.Status = resource.AgentStatus{Order: a.Status.Order, LastReport: &got, Incarnation: r.Incarnation, Version: r.Version, Applied: r.Applied, Conditions: slices.Clone(r.Conditions)}
		if r.Metrics.Check() == nil {
			a.Status.Metrics = string(r.Metrics)
		}
		if now.Sub(got) > reports.DarkAfter {
			a.Status.Conditions = append(a.Status.Conditions, resource.ConditionState{Code: resource.CondDark, Since: got})
		}
	} else {
		a.Status.Conditions = []resource.ConditionState{{Code: resource.CondDark, Since: c.cfg.Began}}
	}
	a.Status.Conditions = append(a.Status.Conditions, c.lost()...)
	a.Status.Runs = c.cfg.Link.Runs(name)
	a.Status.Role = c.role(a)
	if a.Status.Role == resource.RoleActive {
		if why := c.noStandby(a.Spec.RackRef.Name); why != "" {
			a.Status.Conditions = append(a.Status.Conditions, resource.ConditionState{Code: resource.CondNoStandby, Since: now, Message: why})
		}
	}
	var acked map[string]protocol.Head
	if l, err := c.cfg.Ledgers.Peek(name); err == nil {
		acked = l.Acked
		a.Status.Sent = map[string]protocol.Head{}
		for leaf, s := range l.Sent {
			a.Status.Sent[leaf] = s.Head
		}
	}
	seen := append(c.cfg.Link.Conditions(name, acked, at, now), c.cfg.Inventory.AgentConditions(name)...)
	if clock := c.agentClock(name, r, at, now); ok && clock != nil {
		seen = append(seen, *clock)
	}
	for _, cond := range seen {
		// What the agent says itself is said once.
		if !slices.ContainsFunc(a.Status.Conditions, func(s resource.ConditionState) bool {
			return s.Code == cond.Code && cond.Code != resource.CondMessagesRefused
		}) {
			a.Status.Conditions = append(a.Status.Conditions, cond)
		}
	}
	if e, over := c.cfg.Terms.EndingOf(name); over {
		a.Status.Conditions = append(a.Status.Conditions, resource.ConditionState{
			Code: e.Code, Since: e.At, Message: fmt.Sprintf("by %s: %s", e.By, e.Reason),
		})
	} else if code := c.cfg.Terms.Of(a).Refusal(); code != "" {
		a.Status.Conditions = append(a.Status.Conditions, resource.ConditionState{Code: code})
	}
}

// role is what an agent is to its rack; empty for one that does not belong to it.
func (c *Room) role(a *resource.Agent) resource.AgentRole {
	switch {
	case c.cfg.Terms.Active(a):
		return resource.RoleActive
	case c.cfg.Terms.StandsBy(a):
		return resource.RoleStandby
	}
	return ""
}

// noStandby says what is wrong with the standby of a rack that is to have one; empty if nothing is.
func (c *Room) noStandby(rack string) string {
	r, err := store.Peek[*resource.Rack](c.cfg.Objects, rack)
	if err != nil || !r.Spec.Standby {
		return ""
	}
	name := r.Status.Standby
	if name == "" {
		return "no agent stands by"
	}
	if _, at, ok := c.cfg.Reports.Agent(name); !ok || c.cfg.Clock().Sub(at) > reports.DarkAfter {
		return "agent " + name + " has not reported"
	}
	if l, err := c.cfg.Ledgers.Peek(name); err == nil && !slices.Contains(l.Peer.Capabilities, message.CapStandby) {
		return "agent " + name + " does not know how to stand by, and is to be upgraded"
	}
	if why := c.cfg.Link.Doubt(name); why != "" {
		return "agent " + name + " " + why
	}
	return ""
}
