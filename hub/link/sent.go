package link

import (
	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
)

// SentHolds is what the newest hold document of an agent has: true for a hold, false
// for its release.
type SentHolds map[string]bool

// Of reports whether the document has a hold, or its release.
func (s SentHolds) Of(hold string) (held, freed bool) {
	held, there := s[hold]
	return held, there && !held
}

// SentTo is what an agent was sent of holds; nil if that is not known.
func (c *Ledgers) SentTo(agent string) SentHolds {
	l, err := c.cfg.Store.Ledgers.Peek(agent)
	if err != nil {
		return nil
	}
	sent, ok := l.Sent[message.LeafHold]
	if !ok {
		return nil
	}
	d, err := c.HoldDoc(agent, sent)
	if err != nil {
		return nil
	}
	out := SentHolds{}
	for _, h := range d.Holds {
		out[h.ID] = true
	}
	for _, r := range d.Releases {
		out[r.HoldID] = false
	}
	return out
}

// EntryAt is a server's entry in the documents of an agent, nil where none names it; it
// is not known before the newest ones were acknowledged.
func (c *Ledgers) EntryAt(agent, server string) (entry *message.ServerIntent, known bool) {
	l, err := c.cfg.Store.Ledgers.Peek(agent)
	if err != nil {
		return nil, false
	}
	for i := 0; ; i++ {
		sent, ok := l.Sent[RackLeaf(i)]
		if !ok {
			return nil, i > 0
		}
		var d message.RackDoc
		if l.Acked[RackLeaf(i)] != sent.Head ||
			wire.Open(c.own, message.TopicDown(agent, RackLeaf(i)), sent.Body, &d) != nil {
			return nil, false
		}
		for j := range d.Servers {
			if d.Servers[j].Server == server {
				return &d.Servers[j], true
			}
		}
	}
}

// HoldDoc opens a hold document that was sent.
func (c *Ledgers) HoldDoc(agent string, s store.SentDoc) (d message.HoldDoc, err error) {
	topic := message.TopicDown(agent, message.LeafHold)
	return d, wire.Open(c.own, topic, s.Body, &d)
}
