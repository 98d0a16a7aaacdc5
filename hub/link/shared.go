package link

import (
	"rackboot/hub/reports"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Hubs that share a store hear all agents, and each speaks with those alone that it works. What it hears of the others
// is shown, and is believed as far as signatures go: no nonce of this hub proves that it is new. Nothing is written and
// nothing follows; whoever takes over hears all of it again.

// overhear takes the report of an agent that another hub works.
func (c *hearing) overhear(a *resource.Agent, m message.Report) (taken bool) {
	name, now := a.Metadata.Name, c.cfg.Clock()
	c.contacts.with(name, func(k *contact) { k.overheard = m.Session })
	l, err := c.cfg.Store.Ledgers.Peek(name)
	if last, _, heard := c.cfg.Reports.Agent(name); err != nil || !credible(m, last, heard, l.Peer.Head) || !c.cfg.Reports.Accepts(name, m) {
		c.metrics.refused.WithLabelValues(string(reasonOrder)).Inc()
		return false
	}
	m.Agent, m.Rack = name, a.Spec.RackRef.Name
	if !c.cfg.Terms.Active(a) {
		c.cfg.Reports.Hear(m, now)
		return true
	}
	rack, have := rackOf(c.cfg.Store, m.Rack), true
	var news []resource.ServerReport
	changed := false
	if m.As > 0 {
		news, changed, have = c.cfg.Reports.Change(m, rack, now)
	} else {
		c.cfg.Heard.Found(m)
		news, changed = c.cfg.Reports.Put(m, rack, now)
	}
	if !have {
		c.lacks.Add(1)
	}
	for _, s := range news {
		c.cfg.Heard.Shown(a, s, changed)
	}
	return have
}

// credible reports whether a report that no nonce shows to be new is later than what is known: kept is how far the
// agent's store had come when the hub that works it wrote that last. A report of another session than the last one counts
// where the store has come further since, or as far at a later time of the agent's clock.
func credible(m, last message.Report, heard bool, kept message.StoreHead) bool {
	if m.StoreHead.Store == kept.Store && m.StoreHead.Sequence < kept.Sequence {
		return false
	}
	if !heard || last.Session == m.Session || last.StoreHead.Store != m.StoreHead.Store {
		return true
	}
	return m.StoreHead.Sequence > last.StoreHead.Sequence || m.StoreHead.Sequence == last.StoreHead.Sequence && m.At.After(last.At)
}

// Takes has this hub work an agent that another one has worked: it forgets what was said before, and asks for a Hello.
// It reports whether it could: of an agent that was not heard yet the session is not known, and an announcement asks it.
func (c *Room) Takes(agent string) bool {
	l, err := c.cfg.Store.Ledgers.Peek(agent)
	if err != nil {
		c.cfg.Logger.Error("cannot read a ledger", "agent", agent, "err", err)
		return false
	}
	session := c.contacts.see(agent).overheard
	c.Forget(agent)
	c.cfg.Reports.Anew(agent)
	if session == "" {
		return false
	}
	c.contacts.with(agent, func(k *contact) { k.overheard = session })
	c.sessions.ask(agent, session, l, "")
	return true
}

// Lacks counts the reports of agents that another hub works which this one could not take: they tell a change of what it has
// not heard.
func (c *Room) Lacks() uint64 { return c.hearing.lacks.Load() }

// overhears reports whether another hub works an agent, and it was heard lately.
func (c *Room) overhears(agent string) bool {
	if !c.cfg.Start.Shares() || c.cfg.Start.WorksFor(agent) {
		return false
	}
	_, at, heard := c.cfg.Reports.Agent(agent)
	return heard && c.cfg.Clock().Sub(at) < reports.DarkAfter
}
