package link

import (
	"slices"
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
func (r *Room) Connected(t Transport) {
	r.session.renew(r.cfg.NewID(), t)
	r.greeter.fresh()
	r.cfg.Reports.PokeAll()
}

// ask wants a Hello after d, or as soon as the pause between two allows.
func (r *Room) ask(d time.Duration) {
	r.session.want()
	r.greeter.ask(d)
}

// hello says Hello, if there is still a reason.
func (r *Room) hello() {
	now := r.cfg.Clock()
	if r.session.stale(now) {
		r.session.renew(r.cfg.NewID(), nil)
	}
	guards := r.on.guards()
	in, err := r.on.applied()
	if err != nil {
		r.cfg.Logger.Error("cannot read what is applied", "err", err)
		return
	}
	if r.session.caughtUp(in) {
		r.greeter.answered()
		r.cfg.inStep(r.on)
		return
	}
	b, err := r.cfg.Store.Events.Backlog(0)
	if err != nil && !guards {
		r.cfg.Logger.Error("cannot read the events", "err", err)
		return
	}
	if !r.session.hasMet() {
		// As it was when the agent started: the hub knows by it a disk that was rolled
		// back, also where that has filled up again meanwhile.
		b.Head = r.began
	}
	id, nonce := r.session.greet(now)
	if id == "" {
		return // no connection yet
	}
	r.met.hellos.Inc()
	var sealKey []byte
	if r.cfg.Secrets != nil {
		sealKey = r.cfg.Secrets.Public()
	}
	hubHead, _ := r.hub.kept()
	r.publish(message.LeafHello, message.Hello{
		Agent: r.cfg.Agent, Session: id, Incarnation: in.Incarnation, Term: in.Term,
		Protocol: protocol.Version, Version: r.cfg.Version, Applied: in.Heads, EventHead: b.Head, EventTail: b.Tail, At: now,
		Nonce: nonce, Digests: in.Digests, Fence: in.Fence, Capabilities: slices.Concat(message.Capabilities(), r.cfg.Capabilities), SealKey: sealKey,
		Approvals: r.cfg.Approvals, Run: r.cfg.Run, Guard: guards,
		Self: r.aside.self(in.Incarnation), Host: r.cfg.Host, Addresses: r.cfg.Addresses,
		StoreHead: r.heads.greeting(r.session.hasMet()), HubHead: hubHead,
	})
}

// Guards is to be called when guard mode has begun or ended: the hub hears of it at once.
func (r *Room) Guards() {
	if !r.on.turned() {
		return
	}
	r.session.reopen()
	r.session.want()
	r.greeter.reply()
	r.cfg.Reports.PokeAll()
}

// look sees whether the hub's time and word are still good.
func (r *Room) look() {
	r.Guards()
	r.arrive()
	if r.clock.lost() {
		r.cfg.Logger.Warn("the clocks went apart; the hub's time is not known until it answers")
		r.session.renew(r.cfg.NewID(), nil) // only a new question tells the time
		r.ask(0)
	}
	verified, half := r.clock.fresh()
	if verified {
		r.cfg.Reports.Clear(resource.CondHubUnverified)
	} else {
		r.cfg.Reports.Raise(resource.CondHubUnverified, "")
	}
	if half && r.session.isAnswered() {
		r.ask(0)
	}
}

// publish signs and sends. What is lost is sent again: documents by the hub,
// reports and events by the reporter.
func (r *Room) publish(leaf string, msg any) {
	t := r.session.way()
	if t == nil {
		return
	}
	topic := message.TopicUp(r.cfg.Agent, leaf)
	data, err := wire.Seal(r.cfg.Signer, topic, msg)
	if err != nil {
		r.cfg.Logger.Error("cannot seal", "topic", leaf, "err", err)
		return
	}
	if err := t.Publish(topic, data); err != nil {
		r.cfg.Logger.Debug("not sent", "topic", leaf, "err", err)
	}
}
