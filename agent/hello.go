package agent

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// Subscriptions are the topics that an agent listens to.
func Subscriptions(agent string) []string {
	return []string{message.TopicDown(agent, "#"), message.TopicAnnounce}
}

// Connected begins a session on a new connection.
func (a *Agent) Connected(t Transport) {
	a.session.renew(a.random(), t)
	a.greeter.fresh()
	a.reports.PokeAll()
}

// ask wants a Hello after d, or as soon as the pause between two allows.
func (a *Agent) ask(d time.Duration) {
	a.session.want()
	a.greeter.ask(d)
}

// hello says Hello, if there is still a reason.
func (a *Agent) hello() {
	now := a.cfg.Clock()
	if a.session.stale(now) {
		a.session.renew(a.random(), nil)
	}
	in, err := a.store.Applied()
	if err != nil {
		a.log.Error("cannot read what is applied", "err", err)
		return
	}
	if a.session.caughtUp(in) {
		a.greeter.answered()
		return
	}
	b, err := a.store.Backlog(0)
	if err != nil {
		a.log.Error("cannot read the events", "err", err)
		return
	}
	if !a.session.hasMet() {
		// As it was when the agent started: the hub knows by it a disk that was rolled
		// back, also where that has filled up again meanwhile.
		b.Head = a.began
	}
	id, nonce := a.session.greet(now)
	if id == "" {
		return // no connection yet
	}
	a.met.hellos.Inc()
	var sealKey []byte
	if a.cfg.Secrets != nil {
		sealKey = a.cfg.Secrets.Public()
	}
	a.publish(message.LeafHello, message.Hello{
		Agent: a.cfg.Agent, Session: id, Incarnation: in.Incarnation, Term: in.Term,
		Protocol: protocol.Version, Version: a.cfg.Version, Applied: in.Heads, EventHead: b.Head, EventTail: b.Tail, At: now,
		Nonce: nonce, Digests: in.Digests, Fence: in.Fence, Capabilities: message.Capabilities(), SealKey: sealKey,
		Approvals: a.cfg.Destructive.stance(),
	})
}

// look sees whether the hub's time and word are still good.
func (a *Agent) look() {
	if a.hubClock.lost() {
		a.log.Warn("the clocks went apart; the hub's time is not known until it answers")
		a.session.renew(a.random(), nil) // only a new question tells the time
		a.ask(0)
	}
	verified, half := a.hubClock.fresh()
	if verified {
		a.reports.Clear(resource.CondHubUnverified)
	} else {
		a.reports.Raise(resource.CondHubUnverified, "")
	}
	if half && a.session.isAnswered() {
		a.ask(0)
	}
}

// publish signs and sends. What is lost is sent again: documents by the hub,
// reports and events by the reporter.
func (a *Agent) publish(leaf string, msg any) {
	t := a.session.way()
	if t == nil {
		return
	}
	topic := message.TopicUp(a.cfg.Agent, leaf)
	data, err := wire.Seal(a.cfg.Signer, topic, msg)
	if err != nil {
		a.log.Error("cannot seal", "topic", leaf, "err", err)
		return
	}
	if err := t.Publish(topic, data); err != nil {
		a.log.Debug("not sent", "topic", leaf, "err", err)
	}
}
