package link

import (
	"maps"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol/message"
)

// delivery sends documents until they are acknowledged.
type delivery struct {
	cfg      Config
	contacts *contacts
	sender   *sender
	sends    *sends
}

// all sends to every agent what it has not acknowledged.
func (c *delivery) all() {
	now := c.cfg.Clock()
	for _, agent := range c.contacts.names() {
		c.to(agent, now)
	}
}

// to sends what one agent has not acknowledged, holds first. What another
// start of the hub sealed waits until it has been sealed again.
func (c *delivery) to(agent string, now time.Time) {
	if _, over := c.cfg.Terms.EndingOf(agent); over || !c.cfg.Start.WorksFor(agent) {
		return
	}
	l, err := c.cfg.Store.Ledgers.Peek(agent)
	if err != nil {
		return // compile says so
	}
	ready, stale, settled, guards := false, false, false, false
	c.contacts.with(agent, func(k *contact) {
		if settled = !notAlone(c.cfg, agent) && k.sent.settled == l.Revision && k.sent.settled > 0 && k.progress.stage != stageAdopting && len(k.sent.open) == 0; settled {
			return // which is so of nearly all, each second
		}
		if k.progress.stage == stageAdopting && now.Sub(k.progress.since) > adoptWait {
			c.cfg.Logger.Warn("an agent's reports are not complete; what they would have told is adopted later", "agent", agent)
			k.progress.to(stageReady, now)
			stale = true
		}
		guards = k.guarding.known() || notAlone(c.cfg, agent)
		ready = k.progress.stage == stageReady || guards && k.progress.stage != stageBehind
		maps.DeleteFunc(k.sent.open, func(leaf string, o openDoc) bool {
			_, sent := l.Sent[leaf]
			return !sent || !o.head.Newer(l.Acked[leaf])
		})
	})
	if settled {
		return
	}
	if stale {
		c.cfg.Wake.Agent(agent)
	}
	if !ready {
		return
	}
	open, all := owed(l, c.cfg.Start.FenceFor(agent).Number, guards)
	if all && !guards {
		c.contacts.with(agent, func(k *contact) { k.sent.settled = l.Revision })
	}
	if len(open) == 0 || !c.sends.due(agent, now) {
		return
	}
	for _, leaf := range open {
		s := l.Sent[leaf]
		c.contacts.with(agent, func(k *contact) {
			o, there := k.sent.open[leaf]
			if !there {
				o.since = now
			}
			o.head = s.Head // a newer version is as little acknowledged as the one before
			k.sent.open[leaf] = o
		})
		c.sender.publish(message.TopicDown(agent, leaf), s.Body)
	}
}

// owed are the documents that a hub with a fence sends, and whether there are none that wait for an acknowledgement.
// guards is that the agent is sent holds only.
func owed(l *store.Ledger, fence uint64, guards bool) (open []string, all bool) {
	all = true
	for _, leaf := range sentLeaves(l) {
		s := l.Sent[leaf]
		if l.Acked[leaf] == s.Head || guards && leaf != message.LeafHold {
			continue
		}
		if all = false; s.Fence == fence {
			open = append(open, leaf)
		}
	}
	return open, all
}

// sentLeaves are the documents in the order in which they go out: holds first.
func sentLeaves(l *store.Ledger) []string {
	var out []string
	if _, ok := l.Sent[message.LeafHold]; ok {
		out = append(out, message.LeafHold)
	}
	for i := 0; ; i++ {
		leaf := RackLeaf(i)
		if _, ok := l.Sent[leaf]; !ok {
			return out
		}
		out = append(out, leaf)
	}
}
