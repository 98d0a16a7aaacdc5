package link

import (
	"context"

	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// applied notes that a document is on the agent's disk. Holds that the agent has
// released may leave the store only now. What an agent has that stands by makes no hold Enforced, and none leave.
func (c *hearing) applied(ctx context.Context, a *resource.Agent, m message.Applied) error {
	name := a.Metadata.Name
	active := c.cfg.Terms.Active(a)
	if !active && !c.cfg.Terms.StandsBy(a) || c.cfg.Start.Yields(ctx, name, m.Fence) || !c.sessions.counts(name, "", m.Nonce) {
		return nil
	}
	if notAlone(c.cfg, name) {
		return nil // the other one has it not
	}
	if m.Refused != "" {
		c.cfg.Logger.Error("the agent refused a document", "agent", name, "doc", m.Doc, "reason", m.Refused)
		return nil
	}
	c.tells(name, m.StoreHead)
	if active && m.Doc == message.LeafHold {
		defer c.cfg.Store.Haste.Hurry()()
		// Before it is written here: a hub that starts does not know it from its store, but from the agent.
		if l, err := c.cfg.Store.Ledgers.Peek(name); err == nil && acknowledges(m, l.Sent) {
			d, err := c.ledgers.HoldDoc(name, l.Sent[m.Doc])
			if err != nil {
				c.cfg.Logger.Error("own document cannot be opened", "agent", name, "err", err)
			} else {
				c.cfg.Heard.Laid(name, d)
			}
		}
	}
	foreign := false
	_, written, err := c.ledgers.change(ctx, name, func(l *store.Ledger) (changed bool) {
		changed, foreign = acknowledge(l, m)
		return changed
	})
	if err != nil {
		return err
	}
	if foreign {
		c.cfg.Logger.Error("the agent acknowledged another content than was sent", "agent", name, "doc", m.Doc, "epoch", m.Head.Epoch, "version", m.Head.Version)
		c.contacts.with(name, func(k *contact) {
			k.progress.judge("the agent has another content of "+m.Doc+" than was sent", false, true, "", c.cfg.Clock())
		})
		return nil
	}
	if written {
		c.cfg.Crash.At("hub.applied")
	}
	if !active {
		return nil
	}
	if written {
		c.cfg.Wake.Holds.Wake(a.Spec.RackRef.Name) // a hold or a release may wait for it
	}
	for _, id := range m.Released {
		c.cfg.Heard.Released(a, id)
	}
	return nil
}

// acknowledge notes in a ledger what an Applied says. foreign is that the agent has that version with another content.
func acknowledge(l *store.Ledger, m message.Applied) (changed, foreign bool) {
	s, sent := l.Sent[m.Doc]
	if !acknowledges(m, l.Sent) {
		return false, sent && s.Head == m.Head
	}
	if l.Acked[m.Doc] == m.Head {
		return false, false
	}
	l.Acked[m.Doc] = m.Head
	keepsHead(l, m.StoreHead)
	return true, false
}

// acknowledges reports whether a document is the one that was sent last.
func acknowledges(m message.Applied, sent map[string]store.SentDoc) bool {
	s, ok := sent[m.Doc]
	return ok && s.Head == m.Head && (m.Digest == "" || m.Digest == s.Sealed)
}
