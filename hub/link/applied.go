package link

import (
	"context"

	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// applied notes that a document is on the agent's disk. Holds that the agent has
// released may leave the store only now.
func (c *Room) applied(ctx context.Context, a *resource.Agent, m message.Applied) error {
	name := a.Metadata.Name
	if !c.cfg.Terms.Active(a) || c.cfg.Start.Yields(ctx, name, m.Fence) || !c.counts(name, "", m.Nonce) {
		return nil
	}
	if m.Refused != "" {
		c.cfg.Logger.Error("the agent refused a document", "agent", name, "doc", m.Doc, "reason", m.Refused)
		return nil
	}
	if m.Doc == message.LeafHold {
		defer c.cfg.Store.Haste.Hurry()()
	}
	foreign := false
	l, written, err := c.changeLedger(ctx, name, func(l *store.Ledger) bool {
		s, sent := l.Sent[m.Doc]
		same := sent && s.Head == m.Head
		if foreign = same && m.Digest != "" && m.Digest != s.Sealed; foreign || !same || l.Acked[m.Doc] == m.Head {
			return false
		}
		l.Acked[m.Doc] = m.Head
		return true
	})
	if err != nil {
		return err
	}
	if foreign {
		c.cfg.Logger.Error("the agent acknowledged another content than was sent", "agent", name, "doc", m.Doc, "epoch", m.Head.Epoch, "version", m.Head.Version)
		c.contacts.with(name, func(k *contact) {
			k.judge("the agent has another content of "+m.Doc+" than was sent", false, true, "", c.cfg.Clock())
		})
		return nil
	}
	if written {
		c.cfg.Crash.At("hub.applied")
		c.cfg.Wake.Holds.Wake(a.Spec.RackRef.Name) // a hold or a release may wait for it
	}
	if s, ok := l.Sent[m.Doc]; ok && m.Doc == message.LeafHold && l.Acked[m.Doc] == s.Head {
		d, err := c.HoldDoc(name, s)
		if err != nil {
			c.cfg.Logger.Error("own document cannot be opened", "agent", name, "err", err)
		} else {
			c.cfg.Heard.Laid(name, d)
		}
	}
	for _, id := range m.Released {
		c.cfg.Heard.Released(a, id)
	}
	return nil
}
