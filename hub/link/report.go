package link

import (
	"context"
	"errors"
	"slices"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// report takes an agent's report into the mirror and files what it signed. An
// agent can only speak of its own rack's servers, and one that stands by of itself alone. taken says that older reports of the
// shard are worth nothing any more.
func (c *hearing) report(ctx context.Context, a *resource.Agent, m message.Report) (taken bool, err error) {
	name := a.Metadata.Name
	active, belongs := c.cfg.Terms.Active(a), c.cfg.Terms.Belongs(a)
	copies := c.cfg.Terms.CopiesOf(name)
	if belongs && copies.Shared(m.Incarnation) && !copies.Open() {
		c.sender.retired(name, m.Session, copies)
		return false, nil
	}
	if belongs && c.cfg.Start.Shares() && !c.cfg.Start.WorksFor(name) {
		what := overhear(c.cfg, c.contacts, a, m)
		switch what {
		case overheardOlder:
			c.metrics.refused.WithLabelValues(string(reasonOrder)).Inc()
		case overheardLacking:
			c.lacks.Add(1)
		case overheardTaken:
		}
		return what == overheardTaken, nil
	}
	if !belongs || c.cfg.Start.Yields(ctx, name, m.Fence) || !c.sessions.counts(name, m.Session, m.Nonce) {
		return false, nil
	}
	l, err := c.cfg.Store.Ledgers.Peek(name)
	if err != nil {
		return false, err
	}
	now := c.cfg.Clock()
	if !c.cfg.Reports.Accepts(name, m) {
		c.metrics.refused.WithLabelValues(string(reasonOrder)).Inc()
		return false, nil
	}
	if !notAlone(c.cfg, name) {
		c.tells(name, m.StoreHead)
	}
	guards := c.reportsGuard(name, l, m) || notAlone(c.cfg, name)
	if guards {
		c.cfg.Reports.Doubt(name, true)
	}
	if !guards {
		c.overtook(name, l, m)
	}
	m.Agent, m.Rack = name, a.Spec.RackRef.Name
	if !active {
		c.cfg.Reports.Hear(m, now)
		c.moves(m, guards, now)
		return true, nil
	}
	found := false
	news, changed, have := []resource.ServerReport(nil), false, true
	rack := rackOf(c.cfg.Store, m.Rack)
	if m.As > 0 {
		news, changed, have = c.cfg.Reports.Change(m, rack, now)
	} else {
		found = c.cfg.Heard.Found(m)
		news, changed = c.cfg.Reports.Put(m, rack, now)
	}
	if !have {
		c.metrics.refused.WithLabelValues(string(reasonLacking)).Inc()
		c.contacts.with(name, func(k *contact) { k.nextSync = now }) // which says so
		return false, nil
	}
	if changed || found { // of the rest, sweeps see to it
		defer c.cfg.Wake.Turn(m.Rack)
		defer c.cfg.Wake.SiteForServers()
	}
	var errs []error
	if notAlone(c.cfg, name) {
		news = nil // what the one says may have ended at the other: the next session tells all
	}
	for _, s := range news {
		errs = append(errs, c.cfg.Heard.Told(ctx, a, s, changed))
	}
	if err := errors.Join(errs...); err != nil {
		c.cfg.Reports.Again(name, m.Shard)
		return true, err // the shard's next report comes within 15 s
	}
	c.moves(m, guards, now)
	return true, nil
}

// moves notes that a report was taken, after which documents may be due. guards is that its agent is in guard mode.
func (c *hearing) moves(m message.Report, guards bool, now time.Time) {
	ready := false
	c.contacts.with(m.Agent, func(k *contact) {
		was := k.progress.stage
		if !guards {
			k.progress.reported(m.Session, m.Shard, m.Shards, now)
		}
		ready = k.progress.stage != was
	})
	if ready {
		c.cfg.Wake.Rack(m.Rack)
	}
}

// overtook notes whether a report names newer documents than the hub ever made.
func (c *hearing) overtook(agent string, l *store.Ledger, m message.Report) {
	behind, _ := standing(l, c.cfg.Start.Epoch(), m.Applied, nil)
	c.contacts.with(agent, func(k *contact) {
		if behind != "" || k.progress.stage == stageBehind {
			k.progress.judge(behind, false, false, m.Session, c.cfg.Clock())
		}
	})
}

// reportsGuard takes what a report that counts says of guard mode. It can begin it, and not end it:
// it may be of before.
func (c *hearing) reportsGuard(agent string, l *store.Ledger, m message.Report) (known bool) {
	known = c.contacts.see(agent).guarding.known()
	says := slices.ContainsFunc(m.Conditions, func(s resource.ConditionState) bool { return s.Code == resource.CondGuardMode })
	switch {
	case says && !known:
		c.sessions.guards(agent)
	case !says && known:
		c.sessions.askSlowly(agent, m.Session, l) // its answer tells
	}
	return known || says
}
