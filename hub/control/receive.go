package control

import (
	"context"
	"slices"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// receiveTimeout bounds what one message may cost.
const receiveTimeout = 30 * time.Second

// Receive takes one message of an agent. A message that is not signed by the
// agent that its topic names is refused.
func (c *Control) Receive(topic string, payload []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), receiveTimeout)
	defer cancel()
	agent, direction, leaf, ok := protocol.SplitTopic(topic)
	if !ok || direction != "u" {
		return
	}
	a, err := store.Get[*protocol.Agent](c.cfg.Store, agent)
	if err != nil {
		c.log.Warn("message of an unknown agent", "agent", agent, "err", err)
		if leaf == protocol.LeafHello {
			// Its certificate is of this hub, so it was an agent once: it is told that
			// it is none any more, and starts nothing from then on.
			c.send(protocol.TopicDown(agent, protocol.LeafSync), protocol.Sync{Protocol: protocol.Version, Refused: protocol.CondAgentReplaced, At: c.cfg.Clock()})
		}
		return
	}
	v := wire.NewVerifier(a.Spec.Key)
	switch leaf {
	case protocol.LeafHello:
		err = open(v, topic, payload, func(m protocol.Hello) error { return c.hello(ctx, a, m) })
	case protocol.LeafApplied:
		err = open(v, topic, payload, func(m protocol.Applied) error { return c.applied(ctx, a, m) })
	case protocol.LeafReport:
		err = open(v, topic, payload, func(m protocol.Report) error { return c.report(ctx, a, m) })
	case protocol.LeafEvent:
		err = open(v, topic, payload, func(m protocol.EventBatch) error { return c.eventBatch(ctx, a, m) })
	default:
		c.log.Debug("unknown message", "topic", topic)
	}
	if err != nil {
		c.log.Warn("message not taken", "agent", agent, "leaf", leaf, "err", err)
	}
}

func open[T any](v *wire.Verifier, topic string, payload []byte, then func(T) error) error {
	var m T
	if err := wire.Open(v, topic, payload, &m); err != nil {
		return err
	}
	return then(m)
}

// active says whether the agent is the one that serves its rack.
func (c *Control) active(a *protocol.Agent) bool {
	r, err := store.Get[*protocol.Rack](c.cfg.Store, a.Spec.RackRef.Name)
	return err == nil && r.Status.Agent == a.Metadata.Name && r.Status.Term == a.Spec.Term
}

// hello answers what the agent should have, and sends what it has not. What the
// agent says it has applied counts, not what it once acknowledged.
func (c *Control) hello(ctx context.Context, a *protocol.Agent, m protocol.Hello) error {
	name := a.Metadata.Name
	answer := protocol.Sync{Session: m.Session, Protocol: protocol.Version, At: c.cfg.Clock()}
	if !c.active(a) {
		answer.Refused = protocol.CondAgentReplaced
		c.send(protocol.TopicDown(name, protocol.LeafSync), answer)
		return nil
	}
	l, err := c.cfg.Store.Ledger(name)
	if err != nil {
		return err
	}
	answer.Heads, answer.EventsAcked = map[string]protocol.Head{}, acked(l, m.Incarnation)
	if l.Acked == nil {
		l.Acked = map[string]protocol.Head{}
	}
	changed := false
	for leaf, s := range l.Sent {
		answer.Heads[leaf] = s.Head
		if l.Acked[leaf] != m.Applied[leaf] {
			l.Acked[leaf] = m.Applied[leaf]
			changed = true
		}
		if m.Applied[leaf].Newer(s.Head) {
			c.log.Error("the agent has a newer document than this hub; was the hub restored from a backup?", "agent", name, "doc", leaf)
		}
	}
	if changed {
		if err := c.cfg.Store.PutLedger(ctx, &l); err != nil {
			return err
		}
	}
	c.send(protocol.TopicDown(name, protocol.LeafSync), answer)
	c.sends.again(name)
	c.resend()
	return nil
}

// applied notes that a document is on the agent's disk. Holds that the agent has
// released leave the store only now.
func (c *Control) applied(ctx context.Context, a *protocol.Agent, m protocol.Applied) error {
	if m.Refused != "" {
		c.log.Error("the agent refused a document", "agent", a.Metadata.Name, "doc", m.Doc, "reason", m.Refused)
		return nil
	}
	l, err := c.cfg.Store.Ledger(a.Metadata.Name)
	if err != nil {
		return err
	}
	if l.Sent[m.Doc].Head == m.Head && l.Acked[m.Doc] != m.Head {
		if l.Acked == nil {
			l.Acked = map[string]protocol.Head{}
		}
		l.Acked[m.Doc] = m.Head
		if err := c.cfg.Store.PutLedger(ctx, &l); err != nil {
			return err
		}
		c.cfg.Crash.At("hub.applied")
	}
	for _, id := range m.Released {
		h, err := store.Get[*protocol.Hold](c.cfg.Store, id)
		if err != nil || h.Status.ReleasedAt == nil {
			continue
		}
		if err := c.cfg.Store.Remove(ctx, h); err != nil {
			return err
		}
		c.cfg.Crash.At("hub.hold.removed")
	}
	return nil
}

// report takes an agent's report into the mirror and files what it signed.
func (c *Control) report(ctx context.Context, a *protocol.Agent, m protocol.Report) error {
	if !c.active(a) {
		return nil
	}
	if !c.mirror.put(m, c.cfg.Clock()) {
		return nil // older than what is there
	}
	defer c.poke()
	for _, s := range m.Servers {
		if err := c.file(ctx, a, s); err != nil {
			return err
		}
	}
	return nil
}

// file keeps signed facts append-only, and the outcomes of requests.
func (c *Control) file(ctx context.Context, a *protocol.Agent, s protocol.ServerReport) error {
	for _, h := range s.Holds {
		if len(h.Receipt) > 0 {
			if err := c.fileOnce(ctx, "receipt", h.ID+wire.Digest(h.Receipt), h.Receipt); err != nil {
				return err
			}
		}
	}
	for _, q := range s.Requests {
		st, err := c.cfg.Store.GetRequest(q.ID)
		if err != nil || st.Report.Outcome == q.Outcome || q.Outcome == protocol.OutcomePending {
			continue
		}
		st.Report = q
		if err := c.cfg.Store.PutRequest(ctx, st); err != nil {
			return err
		}
	}
	if len(s.Provisioned) > 0 {
		return c.provisioned(ctx, a, s)
	}
	return nil
}

// provisioned keeps an agent's record for its configuration. It is never unset.
func (c *Control) provisioned(ctx context.Context, a *protocol.Agent, s protocol.ServerReport) error {
	var p protocol.Provisioned
	if err := wire.Open(wire.NewVerifier(a.Spec.Key), wire.FactProvisioned, s.Provisioned, &p); err != nil {
		return err
	}
	configs := store.List[*protocol.BootConfiguration](c.cfg.Store)
	i := slices.IndexFunc(configs, func(b *protocol.BootConfiguration) bool {
		return b.Spec.ClaimUID == p.ClaimUID && b.Metadata.Generation == p.Generation && b.Spec.Server == p.Server
	})
	if i < 0 || len(configs[i].Status.SignedProvisioned) > 0 {
		return nil
	}
	if err := c.fileOnce(ctx, "provisioned", wire.Digest(s.Provisioned), s.Provisioned); err != nil {
		return err
	}
	c.cfg.Crash.At("hub.provisioned.filed")
	configs[i].Status.Provisioned, configs[i].Status.SignedProvisioned = &p, s.Provisioned
	return c.cfg.Store.Put(ctx, configs[i])
}

func (c *Control) fileOnce(ctx context.Context, subject, id string, data []byte) error {
	if c.mirror.filed(subject + id) {
		return nil
	}
	_, err := c.cfg.Store.Append(ctx, subject, data, id)
	return err
}
