package control

import (
	"context"
	"errors"
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
		c.log.Debug("message of an unknown agent", "agent", agent, "leaf", leaf, "err", err)
		if leaf == protocol.LeafHello || leaf == protocol.LeafReport {
			// Its certificate is of this hub, so it was an agent once: it is told that
			// it is none any more, at its next report at the latest, and starts nothing
			// from then on.
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

// answer begins a Sync; it says so if the agent does not serve its rack any more.
func (c *Control) answer(a *protocol.Agent, session string) protocol.Sync {
	m := protocol.Sync{Session: session, Protocol: protocol.Version, At: c.cfg.Clock()}
	if !c.active(a) {
		m.Refused = protocol.CondAgentReplaced
	}
	return m
}

// hello answers what the agent should have, and sends what it has not. What the
// agent lacks is believed at once. What it has is believed only when it
// acknowledges the document itself: a version of the same number may have another
// content, from a hub that was restored from a copy.
func (c *Control) hello(ctx context.Context, a *protocol.Agent, m protocol.Hello) error {
	name := a.Metadata.Name
	answer := c.answer(a, m.Session)
	if answer.Refused != "" {
		c.send(protocol.TopicDown(name, protocol.LeafSync), answer)
		return nil
	}
	l, _, err := c.changeLedger(ctx, name, func(l *store.Ledger) (changed bool) {
		for leaf := range l.Sent {
			if have, ok := l.Acked[leaf]; ok && have != m.Applied[leaf] {
				delete(l.Acked, leaf)
				changed = true
			}
		}
		return changed
	})
	if err != nil {
		return err
	}
	answer.Heads, answer.EventsAcked = map[string]protocol.Head{}, acked(l, m.Incarnation)
	for leaf, s := range l.Sent {
		answer.Heads[leaf] = s.Head
	}
	c.compare(name, l, m.Applied)
	c.send(protocol.TopicDown(name, protocol.LeafSync), answer)
	c.sends.again(name)
	c.resend()
	return nil
}

// compare notes whether an agent has a newer document than this hub ever made for
// it. Then the hub was restored from a copy, and makes no more versions for the
// agent: they would overtake the lost hub's, whose holds they do not have.
func (c *Control) compare(agent string, l store.Ledger, applied map[string]protocol.Head) {
	behind := false
	for leaf, s := range l.Sent {
		behind = behind || applied[leaf].Newer(s.Head)
	}
	if c.sends.setBehind(agent, behind) {
		if behind {
			c.log.Error("an agent has newer documents than this hub; the hub was restored from a copy: stop it and run rackboot-hub restored", "agent", agent)
		}
		c.poke()
	}
}

// applied notes that a document is on the agent's disk. Holds that the agent has
// released leave the store only now.
func (c *Control) applied(ctx context.Context, a *protocol.Agent, m protocol.Applied) error {
	if !c.active(a) {
		return nil
	}
	if m.Refused != "" {
		c.log.Error("the agent refused a document", "agent", a.Metadata.Name, "doc", m.Doc, "reason", m.Refused)
		return nil
	}
	_, written, err := c.changeLedger(ctx, a.Metadata.Name, func(l *store.Ledger) bool {
		if l.Sent[m.Doc].Head != m.Head || l.Acked[m.Doc] == m.Head {
			return false
		}
		l.Acked[m.Doc] = m.Head
		return true
	})
	if err != nil {
		return err
	}
	if written {
		c.cfg.Crash.At("hub.applied")
	}
	for _, id := range m.Released {
		h, err := store.Get[*protocol.Hold](c.cfg.Store, id)
		if err != nil || h.Status.ReleasedAt == nil || c.rackOfHold(h) != a.Spec.RackRef.Name {
			continue
		}
		c.mirror.release(id)
		if err := c.cfg.Store.Remove(ctx, h); err != nil {
			return err
		}
		c.cfg.Crash.At("hub.hold.removed")
	}
	return nil
}

func (c *Control) rackOfHold(h *protocol.Hold) string {
	if h.Status.Rack != "" {
		return h.Status.Rack
	}
	rack, err := c.cfg.Store.RackOf(h.Spec.Server)
	if err != nil {
		return ""
	}
	return rack
}

// report takes an agent's report into the mirror and files what it signed. An
// agent can only speak of its own rack's servers.
func (c *Control) report(ctx context.Context, a *protocol.Agent, m protocol.Report) error {
	if !c.active(a) {
		return nil
	}
	l, err := c.cfg.Store.Ledger(a.Metadata.Name)
	if err != nil {
		return err
	}
	c.compare(a.Metadata.Name, l, m.Applied)
	m.Agent, m.Rack = a.Metadata.Name, a.Spec.RackRef.Name
	m.Servers = slices.DeleteFunc(m.Servers, func(s protocol.ServerReport) bool {
		rack, err := c.cfg.Store.RackOf(s.Server)
		return err != nil || rack != m.Rack
	})
	if !c.mirror.put(m, c.cfg.Clock()) {
		return nil // older than what is there
	}
	defer c.poke()
	var errs []error
	for _, s := range m.Servers {
		errs = append(errs, c.file(ctx, a, s), c.adopt(ctx, a, s))
	}
	return errors.Join(errs...)
}
