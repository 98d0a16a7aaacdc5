package link

import (
	"context"
	"fmt"

	"rackboot/hub/events"
	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// hello answers what the agent should have, and sends what it has not; see greet.
func (c *hearing) hello(ctx context.Context, a *resource.Agent, m message.Hello) error {
	name := a.Metadata.Name
	if c.cfg.Start.Shares() && c.cfg.Start.Yields(ctx, name, m.Fence) {
		c.contacts.with(name, func(k *contact) { k.overheard = m.Session })
		return nil
	}
	l, err := c.cfg.Store.Ledgers.Peek(name)
	if err != nil {
		return err
	}
	announced := c.sender.announceNonce()
	var p proof
	var with slot
	var guard guardWord
	var who speaker
	var known message.StoreHead
	greeted, former := false, ""
	copies := c.cfg.Terms.CopiesOf(name)
	if c.cfg.Terms.Belongs(a) && copies.Shared(m.Incarnation) && !copies.Open() {
		c.sender.retired(name, m.Session, copies)
		return nil
	}
	c.contacts.with(name, func(k *contact) {
		p, with = k.nonces.proof(m, announced)
		k.speakers.told(m.Session, runOf(m, c.cfg.Clock()))
		if p == proofSure {
			_, who, former = k.heeds(m.Session, m.Nonce, copies.Open())
		}
		greeted, known = k.progress.stage != stageSilent, k.headOf(l)
		guard = guardRule(m.Guard, k.guarding.known(), p == proofSure && with.turn == k.nonces.turn)
	})
	c.toldOf(a, m)
	c.notes(a, l, m)
	if err := c.sessions.turned(name, who, former); err != nil {
		return err
	}
	copies = c.cfg.Terms.CopiesOf(name)
	if c.cfg.Start.Yields(ctx, name, m.Fence) {
		return nil
	}
	if _, ok := c.sender.serves(a, m.Session); !ok {
		return nil
	}
	switch {
	case guard == guardOver:
		c.sessions.unguards(name)
	case guard == guardSays && p != proofNone:
		c.sessions.guards(name)
	}
	disk := diskWordOf(copies, m, p)
	switch disk {
	case diskAsk:
		c.sessions.ask(name, m.Session, l, "")
		return nil
	case diskSee, diskTell:
		if err := c.sessions.see(name, runOf(m, c.cfg.Clock())); err != nil {
			return err
		}
		c.guarded(name, l, m, p)
		return nil
	case diskGoesOn:
		if err := c.sessions.goesOn(ctx, name, m); err != nil {
			return err
		}
	case diskRetired, diskOwn:
	}
	peer, gone, verdict := judge(l, m, known, greeted, guard, p, with)
	if verdict == verdictRenew || verdict == verdictMeet && peer == peerOther && disk == diskOwn {
		waits := false
		c.contacts.with(name, func(k *contact) { waits = k.speakers.defers(m.Session, c.cfg.Clock()) })
		if waits {
			return nil // it may be a copy: the one before is asked first, and then this one again
		}
	}
	c.cfg.Logger.Debug("hello", "agent", name, "guard", guard, "peer", peer, "lost", gone, "proof", p, "verdict", verdict)
	switch verdict {
	case verdictAsk:
		c.sessions.ask(name, m.Session, l, "")
		return nil
	case verdictRenew:
		c.reverts(ctx, name, known, m)
		c.sessions.ask(name, m.Session, l, m.Incarnation)
		return nil
	case verdictGuard:
		c.guarded(name, l, m, p)
		return nil
	case verdictMeet, verdictAnswer:
	}
	if p != proofNone {
		c.contacts.with(name, func(k *contact) { k.reverted = reverted{} })
		c.tells(name, m.StoreHead)
	}
	learnt, news, err := c.learn(ctx, a, m, verdict, p)
	if err != nil {
		return err
	}
	if p == proofSure || p == proofFresh { // one of the past may name a key that is gone
		if err := c.cfg.Heard.SealKey(ctx, name, m.SealKey); err != nil {
			return err
		}
	}
	if c.welcome(name, &learnt, m, verdict, p) || news {
		c.cfg.Wake.Agent(name)
	}
	return nil
}

// judge says how a Hello stands to the ledger, and what becomes of it. known is how far the agent's store is known to
// have come, and with the nonce that proves it.
func judge(l *store.Ledger, m message.Hello, known message.StoreHead, greeted bool, guard guardWord, p proof, with slot) (peer relation, gone bool, v verdict) {
	peer = relate(l.Peer, m, greeted)
	if peer != peerOther {
		gone = lost(l, l.Acked, m) || wordOfHead(known, m.StoreHead) == headBehind
	}
	if gone && p == proofSure && !lost(l, with.acked, m) && wordOfHead(with.head, m.StoreHead) != headBehind {
		p = proofFresh // it may have been said before what is missing was acknowledged
	}
	return peer, gone, greet(guard, peer, gone, p)
}

// toldOf compares what the agent was told of the hub's store with what that has. It needs no proof: the
// word is the hub's own, and one of the past says less.
func (c *hearing) toldOf(a *resource.Agent, m message.Hello) {
	if len(m.HubHead) == 0 || !c.cfg.Terms.Active(a) {
		return
	}
	name := a.Metadata.Name
	var kept message.HubHead
	if err := wire.Open(c.ledgers.own, wire.FactHubHead, m.HubHead, &kept); err != nil {
		c.cfg.Logger.Warn("what an agent was told of the hub's store was not signed by this hub", "agent", name, "err", err)
		return
	}
	c.contacts.with(name, func(k *contact) { k.told = max(k.told, kept.Sequence) })
	if why := c.cfg.Start.Told(name, kept); why != "" {
		c.contacts.with(name, func(k *contact) { k.progress.judge(why, false, true, m.Session, c.cfg.Clock()) })
	}
}

// notes notes that an agent has documents which this hub never made, also where the
// hub steps down over the same Hello: both are said. It needs no proof: a Hello of the
// past can only have what was made before.
func (c *hearing) notes(a *resource.Agent, l *store.Ledger, m message.Hello) {
	agent := a.Metadata.Name
	if !c.cfg.Terms.Belongs(a) || m.Guard {
		return
	}
	if behind, _ := standing(l, c.cfg.Start.Epoch(), m.Applied, m.Digests); behind != "" {
		c.contacts.with(agent, func(k *contact) {
			if k.progress.stage != stageBehind {
				c.cfg.Logger.Error("an agent has documents that this hub never made; the hub was restored from a copy: stop it and run rackboot-hub restored",
					"agent", agent, "why", behind)
			}
			k.progress.judge(behind, false, true, m.Session, c.cfg.Clock())
		})
	}
}

// learn writes to the ledger what a Hello proves: what the agent is, what it has,
// and what it lacks.
func (c *hearing) learn(ctx context.Context, a *resource.Agent, m message.Hello, v verdict, p proof) (learnt store.Ledger, news bool, err error) {
	var was store.Peer
	l, written, err := c.ledgers.change(ctx, a.Metadata.Name, func(l *store.Ledger) (changed bool) {
		was = l.Peer
		return p != proofNone && proves(l, m, v)
	})
	if err != nil {
		return l, false, err
	}
	if written {
		c.cfg.Crash.At("hub.peer")
	}
	if v == verdictMeet {
		if was.Incarnation != "" {
			c.cfg.Events.OwnOf(ctx, events.AgentTarget(a.Metadata.Name), "", resource.EventRenewed, fmt.Sprintf("agent %s has another disk: incarnation %s, before %s", a.Metadata.Name, m.Incarnation, was.Incarnation))
		}
		c.cfg.Reports.Forgive(a.Metadata.Name)
		if !c.cfg.Terms.Active(a) {
			return l, written, nil // the rack's requests are not its own
		}
		if err := c.cfg.Heard.Met(ctx, a.Spec.RackRef.Name, l.Peer); err != nil {
			return l, written, err
		}
	}
	return l, written, nil
}

// proves notes in a ledger what a Hello proves that is not of the past.
func proves(l *store.Ledger, m message.Hello, v verdict) (changed bool) {
	if next := peerOf(m); !samePeer(l.Peer, next) {
		next.Head = newest(next.Incarnation, l.Peer.Head)
		l.Peer, changed = next, true
	}
	for leaf, s := range l.Sent {
		ack, acked := l.Acked[leaf]
		switch {
		case m.Applied[leaf] == s.Head && m.Digests[leaf] == s.Sealed:
			if !acked || ack != s.Head {
				l.Acked[leaf], changed = s.Head, true
			}
		case acked && v == verdictMeet:
			delete(l.Acked, leaf)
			changed = true
		}
	}
	if changed {
		keepsHead(l, m.StoreHead)
	}
	return changed
}

// welcome answers a Hello and sends what is open. moved says that the agent's stage
// is another.
func (c *hearing) welcome(agent string, l *store.Ledger, m message.Hello, v verdict, p proof) (moved bool) {
	answer := c.sender.word(agent, m.Session)
	heads(&answer, l, m.Incarnation)
	answer.HubHead = c.sender.hubHead(c.contacts.see(agent).told)
	answer.Reported = c.cfg.Reports.Reported(agent, m.Session)
	behind, known := standing(l, c.cfg.Start.Epoch(), m.Applied, m.Digests)
	announced := c.sender.announceNonce()
	c.contacts.with(agent, func(k *contact) {
		switch {
		case v == verdictMeet:
			k.nonces.now = slot{}
			k.begin(m.Session, l, c.sender.nonce())
		case p == proofSure:
			// it is the present one
		case p == proofFresh:
			k.begin(m.Session, l, c.sender.nonce())
			if m.Nonce == announced {
				k.nonces.answered = announced
			}
		case k.nonces.now.session != m.Session || k.nonces.now.nonce == "":
			k.give(m.Session, l, c.sender.nonce)
		}
		answer.Nonce = k.nonces.of(m.Session)
		k.greeted, k.nextSync = m.Session, answer.At.Add(syncPause())
		if p != proofNone {
			was := k.progress.stage
			k.progress.judge(behind, known, true, m.Session, answer.At)
			moved = k.progress.stage != was
			if m.EventTail > 0 {
				clear(k.tail)
				k.tail[m.Incarnation] = m.EventTail
			}
		}
	})
	c.sender.say(agent, answer)
	c.delivery.sends.again(agent)
	c.delivery.to(agent, answer.At)
	return moved
}

// guarded answers a Hello of an agent in guard mode: with a nonce, so that its reports count, and
// with nothing of documents, from which it could conclude, or the hub. The agent is sent holds.
func (c *hearing) guarded(agent string, l *store.Ledger, m message.Hello, p proof) {
	answer := c.sender.word(agent, m.Session)
	c.contacts.with(agent, func(k *contact) {
		if p == proofSure {
			answer.Nonce = k.give(m.Session, l, c.sender.nonce)
		} else {
			k.begin(m.Session, l, c.sender.nonce())
			answer.Nonce = k.nonces.of(m.Session)
		}
		k.greeted, k.nextSync = m.Session, answer.At.Add(syncPause())
	})
	c.sender.say(agent, answer)
	c.delivery.sends.again(agent)
	c.delivery.to(agent, answer.At)
}

// tells keeps in memory what an agent says of its store. Who calls it knows that the word is of the
// present session, or that it does no harm if it is older.
func (c *hearing) tells(agent string, said message.StoreHead) {
	if said.Store == "" {
		return
	}
	c.contacts.with(agent, func(k *contact) {
		if k.head.Store != said.Store || said.Sequence > k.head.Sequence {
			k.head = said
		}
	})
}

// reverts notes that an agent's disk was rolled back. It says so once.
func (c *hearing) reverts(ctx context.Context, agent string, known message.StoreHead, m message.Hello) {
	why := fmt.Sprintf("the disk of incarnation %s was rolled back: it lacks what the agent had acknowledged", m.Incarnation)
	if wordOfHead(known, m.StoreHead) == headBehind {
		why = fmt.Sprintf("the disk of incarnation %s was rolled back: its store is at change %d, and the hub was told of %d", m.Incarnation, m.StoreHead.Sequence, known.Sequence)
	}
	news := false
	c.contacts.with(agent, func(k *contact) {
		if news = k.reverted.since.IsZero(); news {
			k.reverted = reverted{c.cfg.Clock(), why}
		}
	})
	if news {
		c.cfg.Logger.Error("the agent's disk was rolled back", "agent", agent, "why", why)
		c.cfg.Events.OwnOf(ctx, events.AgentTarget(agent), "", resource.EventAgentRolledBack, "agent "+agent+": "+why)
	}
}
