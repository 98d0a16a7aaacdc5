package link

import (
	"context"
	"maps"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
)

// ledgerTries bounds how often a change of a ledger is made again after somebody
// else changed it: the documents' versions and the agent's acknowledgements are
// written by two goroutines.
const ledgerTries = 8

// changeLedger changes an agent's ledger; change says whether there is something
// to write. A hub that finds there that another one has taken over steps down; the code is
// unavailable.
func (c *Room) changeLedger(ctx context.Context, agent string, change func(*store.Ledger) bool) (l store.Ledger, written bool, err error) {
	c.cfg.Store.Haste.GiveWay(ctx)
	ctx = store.Prompt(ctx) // who waits for the line may hurry
	line := c.lines.of(agent)
	select {
	case line <- struct{}{}:
		defer func() { <-line }()
	case <-ctx.Done():
		return l, false, protocol.Errorf(protocol.CodeTimeout, "change a ledger", "%w", ctx.Err())
	}
	for try := 1; ; try++ {
		if l, err = c.cfg.Store.Ledgers.Get(agent); err != nil {
			return l, false, err
		}
		if c.cfg.Start.Yields(ctx, agent, l.Owner) {
			return l, false, c.cfg.Start.Writable()
		}
		if !change(&l) {
			return l, false, nil
		}
		l.Owner = c.cfg.Start.Fence()
		err = c.cfg.Store.Ledgers.Put(ctx, &l)
		if protocol.CodeOf(err) != protocol.CodeConflict || try == ledgerTries {
			return l, err == nil, err
		}
	}
}

// Resend sends to every agent what it has not acknowledged.
func (c *Room) Resend() {
	now := c.cfg.Clock()
	for _, agent := range c.contacts.names() {
		c.SendTo(agent, now)
	}
}

// SendTo sends what one agent has not acknowledged, holds first. What another
// start of the hub sealed waits until it has been sealed again.
func (c *Room) SendTo(agent string, now time.Time) {
	if _, over := c.cfg.Terms.EndingOf(agent); over || c.cfg.Start.SteppedDown() {
		return
	}
	l, err := c.cfg.Store.Ledgers.Peek(agent)
	if err != nil {
		return // compile says so
	}
	ready, stale, settled := false, false, false
	c.contacts.with(agent, func(k *contact) {
		if settled = k.settled == l.Revision && k.settled > 0 && k.stage != stageAdopting && len(k.open) == 0; settled {
			return // which is so of nearly all, each second
		}
		if k.stage == stageAdopting && now.Sub(k.since) > adoptWait {
			c.cfg.Logger.Warn("an agent's reports are not complete; what they would have told is adopted later", "agent", agent)
			k.to(stageReady, now)
			stale = true
		}
		ready = k.stage == stageReady
		maps.DeleteFunc(k.open, func(leaf string, o openDoc) bool {
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
	var open []string
	all := true // is acknowledged
	for _, leaf := range sentLeaves(l) {
		s := l.Sent[leaf]
		if l.Acked[leaf] == s.Head {
			continue
		}
		if all = false; s.Fence == c.cfg.Start.Fence().Number {
			open = append(open, leaf)
		}
	}
	if all {
		c.contacts.with(agent, func(k *contact) { k.settled = l.Revision })
	}
	if len(open) == 0 || !c.sends.due(agent, now) {
		return
	}
	for _, leaf := range open {
		s := l.Sent[leaf]
		c.contacts.with(agent, func(k *contact) {
			o, there := k.open[leaf]
			if !there {
				o.since = now
			}
			o.head = s.Head // a newer version is as little acknowledged as the one before
			k.open[leaf] = o
		})
		c.publish(message.TopicDown(agent, leaf), s.Body)
	}
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
