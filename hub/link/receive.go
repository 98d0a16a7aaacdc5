package link

import (
	"bytes"
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"rackboot/hub/intake"
	"rackboot/hub/store"
	"rackboot/hub/terms"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// receiveTimeout bounds what one message may cost.
const receiveTimeout = 30 * time.Second

// strangerRate is how many agents that are none any more are answered each second.
const strangerRate = 10

// unknownBurst is how many agents that nothing is known of are named in the log at once.
const unknownBurst = 20

// hearing is what is done with messages of agents.
type hearing struct {
	cfg       Config
	own       *wire.Verifier // of what this hub signed
	contacts  *contacts
	asks      *asks
	metrics   *metrics
	ledgers   *Ledgers
	sender    *sender
	sessions  *sessions
	delivery  *delivery
	strangers *rate.Limiter // bounds the answers to agents that are none any more
	lacks     atomic.Uint64
	unknowns  *rate.Limiter // bounds the log lines about agents that nothing is known of
}

// take takes a message; see Room.Take.
func (c *hearing) take(m intake.Message) (part, parts int) {
	ctx, cancel := context.WithTimeout(context.Background(), receiveTimeout)
	defer cancel()
	if e, over := c.cfg.Terms.EndingOf(m.Agent); over {
		c.afterwards(m.Agent, m.Leaf, e)
		return 0, 0
	}
	a, err := store.Peek[*resource.Agent](c.cfg.Store.Objects, m.Agent)
	if err != nil {
		c.stranger(m.Agent, m.Leaf, err)
		return 0, 0
	}
	allowed := false
	c.contacts.with(m.Agent, func(k *contact) { allowed = k.limit.AllowN(c.cfg.Clock(), 1) })
	if !allowed {
		c.metrics.refused.WithLabelValues(string(reasonRate)).Inc()
		return 0, 0
	}
	ctx = c.cfg.Start.UnderFor(ctx, m.Agent)
	if m.Leaf != message.LeafHello && m.Leaf != message.LeafApplied {
		ctx = store.Patient(ctx)
		c.cfg.Store.Haste.GiveWay(ctx)
	}
	in := incoming{c, a, m}
	switch m.Leaf {
	case message.LeafHello:
		err = open(in, func(m message.Hello) error { return c.hello(ctx, a, m) })
	case message.LeafApplied:
		err = open(in, func(m message.Applied) error { return c.applied(ctx, a, m) })
	case message.LeafReport:
		err = open(in, func(m message.Report) error {
			taken, err := c.report(ctx, a, m)
			if taken {
				part, parts = m.Shard, max(1, m.Shards)
			}
			return err
		})
	case message.LeafEvent:
		err = open(in, func(m message.EventBatch) error {
			parts = 1 // what could not be filed comes again
			return c.eventBatch(ctx, a, m)
		})
	case message.LeafAnswer:
		err = open(in, func(m message.Answer) error { return c.answer(ctx, a, m) })
	default:
		c.refuse(m.Agent, "", reasonTopic)
	}
	if err != nil {
		c.cfg.Logger.Warn("message not taken", "agent", m.Agent, "leaf", m.Leaf, "err", err)
	}
	return part, parts
}

// afterwards counts a message of an agent whose term is over, and tells it so, unless
// it was revoked: that one is not spoken to over the link.
func (c *hearing) afterwards(agent, leaf string, e terms.Ending) {
	c.metrics.refused.WithLabelValues(string(reasonEnded)).Inc()
	c.cfg.Logger.Debug("message of an agent whose term is over", "agent", agent, "leaf", leaf, "code", e.Code)
	if e.Code == resource.CondSuperseded && (leaf == message.LeafHello || leaf == message.LeafReport) && c.strangers.AllowN(c.cfg.Clock(), 1) {
		c.sender.dismiss(agent, "", e)
	}
}

// stranger answers an agent that has no Agent here, at its next report at the latest. Its
// certificate is of this hub, so it was an agent once. Only where that is on record it is
// told that it is none any more; else that nothing is known of it.
func (c *hearing) stranger(agent, leaf string, err error) {
	c.metrics.refused.WithLabelValues(string(reasonUnknown)).Inc()
	c.cfg.Logger.Debug("message of an unknown agent", "agent", agent, "leaf", leaf, "err", err)
	if (leaf == message.LeafHello || leaf == message.LeafReport) && c.strangers.AllowN(c.cfg.Clock(), 1) {
		m := c.sender.word(agent, "")
		m.Refused = c.cfg.Terms.OfName(agent).Refusal()
		if m.Refused == resource.CondAgentUnknown && c.unknowns.AllowN(c.cfg.Clock(), 1) {
			c.cfg.Logger.Error("an agent speaks with a certificate of this hub, and the hub has no record of it: it was emptied, or restored from an older copy",
				"agent", agent, "hint", "restore the hub's newest copy, or join the agent again; it enforces its holds meanwhile, do not stop it")
		}
		c.sender.say(agent, m)
	}
}

// incoming is a message of an agent.
type incoming struct {
	hearing *hearing
	agent   *resource.Agent
	message intake.Message
}

func open[T any](in incoming, then func(T) error) error {
	var m T
	if err := wire.Open(in.hearing.verifier(in.agent), in.message.Topic, in.message.Payload, &m); err != nil {
		in.hearing.refuse(in.agent.Metadata.Name, in.message.Leaf, why(in.message.Payload, err))
		return err
	}
	return then(m)
}

// verifier opens what an agent signed. It is made once: that costs more than its use.
func (c *hearing) verifier(a *resource.Agent) (v *wire.Verifier) {
	c.contacts.with(a.Metadata.Name, func(k *contact) {
		if k.verifier == nil || !bytes.Equal(k.key, a.Spec.Key) {
			k.key, k.verifier = bytes.Clone(a.Spec.Key), c.own.Beside(a.Spec.Key)
		}
		v = k.verifier
	})
	return v
}
