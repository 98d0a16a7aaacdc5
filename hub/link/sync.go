package link

import (
	mathrand "math/rand/v2"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
)

// askPause is the least time between two Syncs that ask an agent for a Hello because
// of messages that are not of its session.
const askPause = 2 * time.Second

// heads fills in what the agent should have.
func heads(m *message.Sync, l *store.Ledger, incarnation string) {
	m.Heads, m.Digests, m.EventsAcked = map[string]protocol.Head{}, map[string]string{}, acked(l, incarnation)
	for leaf, s := range l.Sent {
		m.Heads[leaf], m.Digests[leaf] = s.Head, s.Sealed
	}
}

// sessions are those of all agents: which one of an agent counts, and what each is told.
type sessions struct {
	cfg      Config
	contacts *contacts
	sender   *sender
	metrics  *metrics
}

// ask asks for a Hello that proves to be new. renew is an incarnation whose disk was
// rolled back, or empty.
func (c *sessions) ask(agent, session string, l *store.Ledger, renew string) {
	m := c.sender.word(session)
	m.Again, m.Renew = true, renew
	c.contacts.with(agent, func(k *contact) {
		m.Nonce = k.nonces.give(session, l.Acked, c.sender.nonce)
		k.askedAt = m.At
	})
	c.sender.say(agent, m)
}

// counts says whether an Applied or a Report is of the agent's present session. One
// that is not is answered by asking for a Hello, but not each, and not an Applied:
// it names no session, and a report follows.
func (c *sessions) counts(agent, session, nonce string) bool {
	l, err := c.cfg.Store.Ledgers.Peek(agent)
	if err != nil {
		c.cfg.Logger.Error("cannot read a ledger", "agent", agent, "err", err)
		return false
	}
	ok, back := true, false
	c.contacts.with(agent, func(k *contact) {
		ok = k.heeds(session, nonce)
		back, k.speakers.back = k.speakers.back, false
	})
	if back {
		c.suspect(agent)
	}
	if ok {
		return true
	}
	c.metrics.refused.WithLabelValues(string(reasonNonce)).Inc()
	if session != "" {
		c.askSlowly(agent, session, l)
	}
	return false
}

// askSlowly asks for a Hello because of messages, of which there may be many.
func (c *sessions) askSlowly(agent, session string, l *store.Ledger) {
	now, quiet := c.cfg.Clock(), false
	c.contacts.with(agent, func(k *contact) { quiet = now.Sub(k.askedAt) < askPause })
	if !quiet {
		c.ask(agent, session, l, "")
	}
}

// syncs says to each agent with a session, every SyncEvery, what it should have.
func (c *sessions) syncs(now time.Time) {
	for _, agent := range c.contacts.names() {
		if _, over := c.cfg.Terms.EndingOf(agent); over {
			continue
		}
		var session slot
		due, silent, guards := false, false, false
		c.contacts.with(agent, func(k *contact) {
			session, silent, guards = k.nonces.now, k.progress.stage == stageSilent, k.guarding.known()
			if due = session.nonce != "" && !now.Before(k.nextSync); due {
				k.nextSync = now.Add(syncPause())
			}
		})
		if !due {
			continue
		}
		l, err := c.cfg.Store.Ledgers.Peek(agent)
		if err != nil {
			c.cfg.Logger.Error("cannot read a ledger", "agent", agent, "err", err)
			continue
		}
		if silent && !guards {
			// Its reports count already. What it should have is said in answer to its
			// Hello only: said before, it would take the place of that answer, and the
			// agent would not say Hello any more.
			c.ask(agent, session.session, l, "")
			continue
		}
		m := c.sender.word(session.session)
		m.Nonce = session.nonce
		if !guards {
			heads(&m, l, l.Peer.Incarnation)
			m.Reported = c.cfg.Reports.Reported(agent, m.Session)
		}
		c.sender.say(agent, m)
	}
}

// syncPause is SyncEvery ± 25 %, so that agents do not come in step.
func syncPause() time.Duration {
	const spread = message.SyncEvery / 2
	return message.SyncEvery - spread/2 + time.Duration(mathrand.Int64N(int64(spread)))
}

// guards notes a word of guard mode. What the agent said before it ends nothing any more.
func (c *sessions) guards(agent string) {
	now, news := c.cfg.Clock(), false
	c.contacts.with(agent, func(k *contact) {
		k.nonces.turn++
		if news = !k.guarding.known(); news {
			k.guarding.since = now
		}
	})
	c.cfg.Reports.Doubt(agent, true)
	if news {
		c.cfg.Logger.Error("an agent is in guard mode: it has no store that it can write to; nothing of its rack counts as proved off", "agent", agent)
	}
}

// unguards notes that guard mode is over.
func (c *sessions) unguards(agent string) {
	c.contacts.with(agent, func(k *contact) { k.guarding = guarding{} })
	c.cfg.Reports.Doubt(agent, false)
	c.cfg.Logger.Warn("an agent has left guard mode", "agent", agent)
}
