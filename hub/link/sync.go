package link

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"time"

	"rackboot/hub/events"
	"rackboot/hub/store"
	"rackboot/hub/terms"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
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
	m := c.sender.word(agent, session)
	m.Again, m.Renew = true, renew
	if renew != "" {
		c.contacts.with(agent, func(k *contact) { m.Had = k.headOf(l).Sequence })
	}
	c.contacts.with(agent, func(k *contact) {
		m.Nonce = k.give(session, l, c.sender.nonce)
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
	var ok bool
	var who speaker
	var former string
	twins := notAlone(c.cfg, agent)
	c.contacts.with(agent, func(k *contact) {
		if ok, who, former = k.heeds(session, nonce, twins); ok {
			k.speakers.heard(k.nonces.now.session, c.cfg.Clock())
		}
	})
	if err := c.turned(agent, who, former); err != nil {
		c.cfg.Logger.Error("cannot record that the disk of an agent was copied", "agent", agent, "err", err)
		return false // it is seen again
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
		due, greeted, guards, settled, waited := false, false, false, false, ""
		c.contacts.with(agent, func(k *contact) {
			waited, settled = k.speakers.settles(now)
			session, guards = k.nonces.now, k.guarding.known()
			greeted = k.progress.stage != stageSilent && k.greeted == session.session
			guards = guards || notAlone(c.cfg, agent)
			if due = session.nonce != "" && !now.Before(k.nextSync); due {
				k.nextSync = now.Add(syncPause())
			}
		})
		if a, err := store.Peek[*resource.Agent](c.cfg.Store.Objects, agent); err == nil && settled {
			c.cfg.Wake.Holds.Wake(a.Spec.RackRef.Name) // a release may wait for it
		}
		if !due && waited == "" {
			continue
		}
		l, err := c.cfg.Store.Ledgers.Peek(agent)
		if err != nil {
			c.cfg.Logger.Error("cannot read a ledger", "agent", agent, "err", err)
			continue
		}
		if waited != "" {
			c.ask(agent, waited, l, "")
			continue
		}
		if !greeted && !guards {
			// Its reports count already. What it should have is said in answer to its
			// Hello only: said before, it would take the place of that answer, the agent
			// would not say Hello any more, and one whose disk was rolled back would boot
			// by what that says.
			c.ask(agent, session.session, l, "")
			continue
		}
		m := c.sender.word(agent, session.session)
		m.Nonce = session.nonce
		if !guards {
			heads(&m, l, l.Peer.Incarnation)
			m.HubHead = c.sender.hubHead(c.contacts.see(agent).told)
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
	c.cfg.Reports.Doubt(agent, notAlone(c.cfg, agent))
	c.cfg.Logger.Warn("an agent has left guard mode", "agent", agent)
}

// turned does what follows from another session's having spoken.
func (c *sessions) turned(agent string, who speaker, former string) error {
	switch who {
	case speakerNew:
		c.challenge(agent, former)
	case speakerBack:
		return c.suspect(agent, former)
	case speakerSame, speakerLate:
	}
	return nil
}

// challenge asks a session that another one took over from whether it still speaks. An agent that has left
// it does not heed that.
func (c *sessions) challenge(agent, former string) {
	l, err := c.cfg.Store.Ledgers.Peek(agent)
	if err != nil || former == "" {
		return
	}
	m := c.sender.word(agent, former)
	m.Again = true
	c.contacts.with(agent, func(k *contact) {
		m.Nonce = k.give(former, l, c.sender.nonce)
		k.speakers.takesOver(former, m.At)
	})
	c.sender.say(agent, m)
}

// suspect notes that two agents have one disk: the one that speaks, and the one that had taken over from it.
// Both are told.
func (c *sessions) suspect(agent, former string) error {
	l, err := c.cfg.Store.Ledgers.Peek(agent)
	if err != nil {
		return err
	}
	present := ""
	runs := []resource.AgentRun{}
	c.contacts.with(agent, func(k *contact) {
		present = k.speakers.present
		for _, session := range []string{present, former} {
			if r, there := k.speakers.runs[session]; there {
				runs = append(runs, r)
			}
		}
	})
	if len(runs) < 2 { // what the one was that spoke in a report only is not known
		runs = append(runs, resource.AgentRun{Incarnation: l.Peer.Incarnation})
	}
	if err := c.see(agent, runs...); err != nil {
		return err
	}
	c.ask(agent, present, l, "")
	c.challenge(agent, former)
	return nil
}

// see keeps that there is more than one agent of a disk, and who they are. An older copy may have been told
// to take a new incarnation before it was seen that it is one: all that they have are shared.
func (c *sessions) see(agent string, runs ...resource.AgentRun) error {
	ctx, cancel := context.WithTimeout(context.Background(), receiveTimeout)
	defer cancel()
	news := false
	err := c.cfg.Terms.ChangeCopies(ctx, agent, func(k *terms.Copies) (changed bool, err error) {
		was := k.Open() && len(k.Incarnations) > 0
		for _, r := range runs {
			changed = r.Incarnation != "" && k.See(r.Incarnation, c.cfg.Clock()) || changed
			changed = r.Run != "" && k.Hear(r) || changed
		}
		news = changed && !was
		return changed, nil
	})
	if err != nil {
		return err
	}
	c.cfg.Reports.Doubt(agent, true)
	if news {
		c.cfg.Logger.Error("two agents have one disk: it was copied, or its folder is used twice; both stand aside until somebody says which goes on", "agent", agent, "runs", runsText(runs))
		c.cfg.Events.OwnOf(ctx, events.AgentTarget(agent), "", resource.EventAgentCopied, fmt.Sprintf("agent %s speaks twice: %s", agent, runsText(runs)))
	}
	return nil
}

// tellCopied tells every session that is known at once.
func (c *sessions) tellCopied(agent string) {
	var all []string
	c.contacts.with(agent, func(k *contact) {
		for session := range k.speakers.runs {
			all = append(all, session)
		}
	})
	slices.Sort(all)
	for _, session := range all {
		c.sender.say(agent, c.sender.word(agent, session))
	}
}

// goesOn notes that the agent which somebody chose has spoken.
func (c *sessions) goesOn(ctx context.Context, agent string, m message.Hello) error {
	err := c.cfg.Terms.ChangeCopies(ctx, agent, func(k *terms.Copies) (bool, error) {
		if !k.Open() || k.Kept == nil || k.Kept.Incarnation != m.Incarnation {
			return false, nil
		}
		k.Kept.Heard = true
		k.Hear(runOf(m, c.cfg.Clock()))
		return true, nil
	})
	if err != nil {
		return err
	}
	guards := false
	c.contacts.with(agent, func(k *contact) {
		guards = k.guarding.known()
		k.speakers = speakers{present: m.Session}
		k.nonces.era++
		k.nonces.asked = nil
	})
	c.cfg.Reports.Doubt(agent, guards)
	c.cfg.Logger.Warn("the agent that somebody chose goes on", "agent", agent, "run", m.Run, "incarnation", m.Incarnation)
	return nil
}
