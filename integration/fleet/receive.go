package fleet

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/wire"
)

// receive takes one message of the hub.
func (a *agent) receive(now time.Time, m packet) {
	defer a.count()
	_, _, leaf, _ := message.SplitTopic(m.topic)
	switch {
	case m.topic == message.TopicAnnounce:
		take(a, m, func(n message.Announce) { a.announced(now, n) })
	case leaf == message.LeafSync:
		take(a, m, func(n message.Sync) { a.sync(now, n) })
	case leaf == message.LeafAsk:
		take(a, m, a.answer)
	case leaf == message.LeafHold:
		take(a, m, func(d message.HoldDoc) {
			doc := arrived{leaf, d.Head, d.Term, d.Fence, wire.Digest(m.payload), d.IssuedAt}
			a.apply(now, doc, func() { a.applyHolds(now, d) }, released(d))
		})
	case strings.HasPrefix(leaf, message.LeafRack+"/"):
		take(a, m, func(d message.RackDoc) {
			doc := arrived{leaf, d.Head, d.Term, d.Fence, wire.Digest(m.payload), d.IssuedAt}
			a.apply(now, doc, func() { a.applyRack(now, d) }, nil)
		})
	}
}

// take opens a message.
func take[T any](a *agent, m packet, then func(T)) {
	var v T
	if err := wire.Open(a.hub, m.topic, m.payload, &v); err != nil {
		a.shared.counts.fail(err)
		return
	}
	a.shared.counts.received.Add(1)
	then(v)
}

// hello says Hello, unless there is no reason any more.
func (a *agent) hello(now time.Time) {
	if a.session.lackingOnly && !a.lacks() {
		a.session.wanted = false
		return
	}
	heads, digests := a.disk.heads()
	a.publish(message.LeafHello, message.Hello{
		Agent: a.name, Session: a.session.id, Incarnation: a.disk.Incarnation, Term: a.disk.Term, Protocol: protocol.Version, Version: version,
		Applied: heads, Digests: digests, EventHead: a.disk.Events.Last, EventTail: a.disk.Events.tail(), At: now,
		Nonce: a.session.nonce, Fence: a.disk.Fence, Capabilities: capabilities(),
	})
}

// capabilities are what the servers of a fleet can do: no more is sent to it.
func capabilities() []message.Capability {
	return []message.Capability{message.CapBootHdd, message.CapBootUefiHTTP, message.CapAsk}
}

// maxSpread bounds what an announcement may ask for.
const maxSpread = time.Minute

// announced is a hub's word that it has started.
func (a *agent) announced(now time.Time, m message.Announce) {
	if a.disk.Fence.Newer(m.Fence) || m.Fence.Rivals(a.disk.Fence) || !a.session.hear(m) {
		return
	}
	spread := time.Duration(0)
	if m.Spread > 0 {
		spread = rand.N(min(m.Spread, maxSpread))
	}
	a.session.ask(now.Add(spread))
}

// sync takes a word of the hub.
func (a *agent) sync(now time.Time, m message.Sync) {
	heads, digests := a.disk.heads()
	act := decide.Sync(decide.SyncSnapshot{
		Session: a.session.id, Last: a.session.last, Incarnation: a.disk.Incarnation, Fence: a.disk.Fence, Applied: heads, Digests: digests,
	}, m)
	switch act {
	case decide.SyncStop:
		a.session.answered = false
		a.shared.counts.fail(protocol.Errorf(protocol.CodeDenied, "say hello", "the hub refuses agent %s: %s", a.name, m.Refused))
	case decide.SyncIgnore, decide.SyncRival:
	case decide.SyncDoubt:
		if a.session.doubted.IsZero() {
			a.session.doubted = now
		}
		a.session.ask(now)
	case decide.SyncRenew:
		a.session.heed(m)
		a.disk.Incarnation, a.disk.Events = random(), backlog{}
		a.session.answered = false
		a.session.reply(now)
	case decide.SyncAgain:
		a.session.heed(m)
		a.session.reply(now)
	case decide.SyncBehind, decide.SyncHeed:
		a.session.heed(m)
		a.disk.Events.acknowledged(m.EventsAcked)
		if m.Heads != nil {
			a.reports.had = m.Reported
		}
	case decide.SyncLacking, decide.SyncAnswer:
		if m.Fence.Newer(a.disk.Fence) {
			a.disk.Fence = m.Fence
		}
		a.session.heed(m)
		a.named(m)
		if a.session.answer(now, act == decide.SyncLacking) {
			a.shared.counts.sessions.Add(1)
			a.reports.news(now, true)
		}
		a.disk.Events.acknowledged(m.EventsAcked)
		a.reports.had = m.Reported
	}
}

// named notes which documents the hub has.
func (a *agent) named(m message.Sync) {
	clear(a.heads)
	for leaf, h := range m.Heads {
		a.heads[leaf] = document{h, m.Digests[leaf]}
	}
}

// answer answers a question: every BMC has one system, with one interface.
func (a *agent) answer(m message.Ask) {
	out := message.Answer{ID: m.ID, Nonce: a.session.own}
	s := a.disk.server(m.BMC.Name)
	if m.Kind == message.AskInventory && s != nil {
		out.Body, _ = json.Marshal([]protocol.Inventory{{ // strings, which always can be
			SystemURI: "/redfish/v1/Systems/1", Vendor: "rackboot-sim", Model: "none", Serial: s.Name, Architecture: "amd64", BootMode: "UEFI",
			Interfaces: []protocol.Interface{{MAC: s.MAC, Name: "1", Sources: []string{"EthernetInterfaces"}}},
		}})
	} else {
		out.Code, out.Message, out.Hint = protocol.CodeUnsupported, "there is no BMC: rackboot-sim fleet", "ask a real agent"
	}
	a.publish(message.LeafAnswer, out)
}
