package link

import (
	mathrand "math/rand/v2"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/terms"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
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

// ask asks for a Hello that proves to be new. renew is an incarnation whose disk was
// rolled back, or empty.
func (c *Room) ask(agent, session string, l *store.Ledger, renew string) {
	m := c.word(session)
	m.Again, m.Renew = true, renew
	c.contacts.with(agent, func(k *contact) {
		m.Nonce = k.give(session, l.Acked, c.nonce)
		k.askedAt = m.At
	})
	c.say(agent, m)
}

// counts says whether an Applied or a Report is of the agent's present session. One
// that is not is answered by asking for a Hello, but not each, and not an Applied:
// it names no session, and a report follows.
func (c *Room) counts(agent, session, nonce string) bool {
	l, err := c.cfg.Store.Ledgers.Peek(agent)
	if err != nil {
		c.cfg.Logger.Error("cannot read a ledger", "agent", agent, "err", err)
		return false
	}
	now := c.cfg.Clock()
	ok, quiet, back := true, false, false
	c.contacts.with(agent, func(k *contact) {
		ok = k.heeds(session, nonce)
		back, k.back = k.back, false
		if quiet = now.Sub(k.askedAt) < askPause; ok {
			k.heardAt = now
		}
	})
	if back {
		c.suspect(agent)
	}
	if ok {
		return true
	}
	c.metrics.refused.WithLabelValues(string(reasonNonce)).Inc()
	if !quiet && session != "" {
		c.ask(agent, session, l, "")
	}
	return false
}

// syncs says to each agent with a session, every SyncEvery, what it should have.
func (c *Room) syncs(now time.Time) {
	for _, agent := range c.contacts.names() {
		if _, over := c.cfg.Terms.EndingOf(agent); over {
			continue
		}
		var session slot
		due, silent := false, false
		c.contacts.with(agent, func(k *contact) {
			session, silent = k.now, k.stage == stageSilent
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
		if silent {
			// Its reports count already. What it should have is said in answer to its
			// Hello only: said before, it would take the place of that answer, and the
			// agent would not say Hello any more.
			c.ask(agent, session.session, l, "")
			continue
		}
		m := c.word(session.session)
		m.Nonce = session.nonce
		heads(&m, l, l.Peer.Incarnation)
		m.Reported = c.cfg.Reports.Reported(agent, m.Session)
		c.say(agent, m)
	}
}

// syncPause is SyncEvery ± 25 %, so that agents do not come in step.
func syncPause() time.Duration {
	const spread = message.SyncEvery / 2
	return message.SyncEvery - spread/2 + time.Duration(mathrand.Int64N(int64(spread)))
}

// AnnounceNonce is that of the last announcement of this run.
func (c *Room) AnnounceNonce() string {
	c.announceMu.Lock()
	defer c.announceMu.Unlock()
	return c.announced
}

// Announce tells agents that the hub is there; they answer with a Hello. It is made
// anew for each connection of the hub.
func (c *Room) Announce() {
	if c.cfg.Start.SteppedDown() {
		return
	}
	agents := len(store.List[*resource.Agent](c.cfg.Store.Objects))
	m := message.Announce{
		Hub: c.cfg.Start.Fence().Hub, Epoch: c.cfg.Start.Epoch(), At: c.cfg.Clock(), Nonce: c.nonce(), Fence: c.cfg.Start.Fence(),
		Spread: spread(agents),
	}
	data, err := wire.Seal(c.cfg.Signer, message.TopicAnnounce, m)
	if err != nil {
		c.cfg.Logger.Error("cannot seal", "topic", message.TopicAnnounce, "err", err)
		return
	}
	c.announceMu.Lock()
	c.announced = m.Nonce
	c.announceMu.Unlock()
	c.publish(message.TopicAnnounce, data)
}

// helloRate is how many agents shall answer an announcement each second.
const helloRate = 200

func spread(agents int) time.Duration {
	return min(time.Minute, time.Duration(agents)*time.Second/helloRate)
}

// Dismiss tells an agent that its term is over.
func (c *Room) Dismiss(agent, session string, e terms.Ending) {
	m := c.word(session)
	m.Trust, m.Refused, m.Ended = "", e.Code, c.cfg.Terms.LastWord(agent, e)
	c.say(agent, m)
}

// Tick sends what is due.
func (c *Room) Tick(now time.Time) {
	c.Resend()
	c.syncs(now)
	c.asksAgain(now)
}
