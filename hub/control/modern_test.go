package control

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// modern is an agent of this version as far as the hub can see it.
type modern struct {
	b           *bench
	name        string
	session     string
	sessions    int
	incarnation string
	run         string // of its process
	heard       string // the last nonce
	nonce       string // of the session's answer
	applied     map[string]protocol.Head
	digests     map[string]string
	bodies      map[string][]byte
	fence       message.Fence
	caps        []message.Capability
	stance      *resource.ApprovalStance
	sealKey     []byte // of secrets; nil is none
	events      uint64
	store       uint64 // how far its store has come; 0 says nothing
	digest      string // of that
	hubHead     []byte // that it has kept
	tail        uint64
	seq         uint64
	deaf        bool // keeps no document
	guard       bool // is in guard mode
	aside       decide.Aside
	asks        []message.Ask
	hub         *wire.Verifier
	signer      *wire.Signer
	// wire takes what the agent sends instead of the hub, where it is set.
	wire  func(packet)
	heeds time.Time // of the newest Sync of the session
	syncs []message.Sync
	beats []message.HeardBeat // that it reports
}

// modernSite is a site whose agent is of this version, greeted and in step.
func modernSite(t *testing.T) (*bench, *modern) {
	t.Helper()
	b := newBench(t, &movingTag{})
	b.apply(storetest.Site()...)
	m := b.modern(b.join("r1"))
	m.connects()
	b.pass()
	m.listens()
	return b, m
}

func (b *bench) modern(name string) *modern {
	return &modern{
		b: b, name: name, incarnation: name + "-disk-a", caps: message.Capabilities(),
		applied: map[string]protocol.Head{}, digests: map[string]string{}, bodies: map[string][]byte{},
	}
}

// connects begins a session and listens to what comes.
func (m *modern) connects() {
	m.b.t.Helper()
	m.begins()
	m.hello()
	m.listens()
}

func (m *modern) begins() {
	m.sessions++
	m.session, m.nonce, m.heeds = fmt.Sprintf("%s-session-%s%d", m.name, m.run, m.sessions), "", time.Time{}
}

func (m *modern) message() message.Hello {
	return message.Hello{
		Agent: m.name, Session: m.session, Incarnation: m.incarnation, Protocol: protocol.Version, Version: "2.0.0",
		Applied: maps.Clone(m.applied), Digests: maps.Clone(m.digests), EventHead: m.events, EventTail: m.tail,
		At: m.b.now, Nonce: m.heard, Fence: m.fence, Capabilities: m.caps, SealKey: m.sealKey, Approvals: m.stance, Guard: m.guard,
		Run: m.run, Self: m.aside.Self, Host: "host of " + m.run, StoreHead: m.head(), HubHead: m.hubHead,
	}
}

// head is what the agent says of its store.
func (m *modern) head() message.StoreHead {
	if m.store == 0 || m.guard {
		return message.StoreHead{}
	}
	return message.StoreHead{Store: m.incarnation, Sequence: m.store, Digest: []byte(m.digest)}
}

func (m *modern) hello() {
	m.b.t.Helper()
	m.says(message.LeafHello, m.message())
}

func (m *modern) reports(servers ...resource.ServerReport) {
	m.b.t.Helper()
	m.reportsShard(0, 1, servers...)
}

func (m *modern) reportsShard(shard, shards int, servers ...resource.ServerReport) {
	m.b.t.Helper()
	m.seq++
	m.says(message.LeafReport, message.Report{
		Agent: m.name, Session: m.session, Incarnation: m.incarnation, Run: m.run, Seq: m.seq, At: m.b.now, Version: "2.0.0",
		Applied: maps.Clone(m.applied), Shard: shard, Shards: shards, Servers: servers, Nonce: m.nonce, Fence: m.fence, Beats: m.beats, StoreHead: m.head(),
	})
}

// listens takes everything that was sent to the agent, and what comes of its answers.
func (m *modern) listens() {
	m.b.t.Helper()
	for n := 0; len(m.b.sent) > 0; n++ {
		if n > 50 {
			m.b.t.Fatal("hub and agent never come to an end")
		}
		in := m.b.sent
		m.b.sent = nil
		for _, v := range in {
			m.takes(v)
		}
	}
}

func (m *modern) takes(v packet) {
	m.b.t.Helper()
	if m.hub == nil {
		m.hub, m.signer = wire.NewVerifier(m.b.hub.Public()), wire.NewSigner(key(m.name))
	}
	open := func(msg any) {
		if err := wire.Open(m.hub, v.topic, v.payload, msg); err != nil {
			m.b.t.Fatal(err)
		}
	}
	if v.topic == message.TopicAnnounce {
		var a message.Announce
		open(&a)
		if a.Nonce != m.heard {
			m.heard = a.Nonce
			m.hello()
		}
		return
	}
	to, _, leaf, _ := message.SplitTopic(v.topic)
	switch {
	case to != m.name:
	case leaf == message.LeafSync:
		var s message.Sync
		open(&s)
		m.sync(s)
	case leaf == message.LeafAsk:
		var q message.Ask
		open(&q)
		m.asks = append(m.asks, q)
	case !m.deaf:
		m.keeps(leaf, v.payload, open)
	}
}

func (m *modern) sync(s message.Sync) {
	m.b.t.Helper()
	m.syncs = append(m.syncs, s)
	if s.Copied != nil {
		m.copied(*s.Copied)
	}
	if s.Session != m.session || s.At.Before(m.heeds) {
		return
	}
	m.heeds = s.At
	m.heard = s.Nonce
	if s.Renew != "" && s.Renew == m.incarnation {
		m.incarnation += "'"
	}
	if s.Again {
		m.hello()
		return
	}
	m.nonce = s.Nonce
	if s.Heads != nil && m.aside.Standing(m.incarnation) == decide.AsideTaken {
		m.aside = decide.Aside{}
	}
}

// copied does what the hub says of copies of the agent's disk.
func (m *modern) copied(c message.Copied) {
	switch decide.OnCopied(c, m.incarnation, m.aside) {
	case decide.AsideNothing:
	case decide.AsideStand:
		m.aside = decide.Aside{Incarnation: m.incarnation, Self: "self of " + m.run}
		m.hello()
	case decide.AsideTake:
		m.incarnation = c.Kept.Incarnation
		m.aside = decide.Aside{Incarnation: m.incarnation, Taken: true}
		m.begins()
		m.hello()
	case decide.AsideGiveUp:
		m.aside = decide.Aside{Incarnation: m.incarnation, Superseded: true}
	}
}

// keeps applies a document and acknowledges it.
func (m *modern) keeps(leaf string, payload []byte, open func(any)) {
	m.b.t.Helper()
	var head protocol.Head
	if leaf == message.LeafHold {
		var d message.HoldDoc
		open(&d)
		head = d.Head
	} else if strings.HasPrefix(leaf, message.LeafRack) {
		var d message.RackDoc
		open(&d)
		head = d.Head
	}
	if have := m.applied[leaf]; have.Newer(head) {
		return
	}
	m.applied[leaf], m.digests[leaf], m.bodies[leaf] = head, wire.Digest(payload), payload
	m.says(message.LeafApplied, message.Applied{Doc: leaf, Head: head, Digest: m.digests[leaf], Nonce: m.nonce, Fence: m.fence, StoreHead: m.head()})
}

// last is the newest Sync that reached the agent.
func (m *modern) last() message.Sync {
	m.b.t.Helper()
	if len(m.syncs) == 0 {
		m.b.t.Fatal("no sync came")
	}
	return m.syncs[len(m.syncs)-1]
}

func (m *modern) ledger() store.Ledger {
	m.b.t.Helper()
	l, err := m.b.store.Ledgers.Get(m.name)
	if err != nil {
		m.b.t.Fatal(err)
	}
	return l
}

// acked says whether all documents are acknowledged.
func (m *modern) acked() bool {
	l := m.ledger()
	for leaf, s := range l.Sent {
		if l.Acked[leaf] != s.Head {
			return false
		}
	}
	return len(l.Sent) > 0
}

func (m *modern) conditions() string {
	m.b.t.Helper()
	a, err := store.Get[*resource.Agent](m.b.store.Objects, m.name)
	if err != nil {
		m.b.t.Fatal(err)
	}
	m.b.control.Status.Decorate(a)
	return codes(a.Status.Conditions)
}

func (b *bench) request(id string, action resource.RequestAction) {
	b.t.Helper()
	q := store.StoredRequest{Request: resource.Request{ID: id, Server: "n1", Action: action, NotAfter: b.now.Add(message.SyncValid)}, Rack: "r1"}
	if err := b.store.Requests.Put(ctx(b.t), q); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) outcome(id string) resource.RequestReport {
	b.t.Helper()
	q, err := b.store.Requests.Get(id)
	if err != nil {
		b.t.Fatal(err)
	}
	return q.Report
}

// opens opens a document that an agent keeps.
func (b *bench) opens(m *modern, leaf string, doc any) {
	b.t.Helper()
	if err := wire.Open(wire.NewVerifier(b.hub.Public()), message.TopicDown(m.name, leaf), m.bodies[leaf], doc); err != nil {
		b.t.Fatal(err)
	}
}

// says sends any message of the agent.
func (m *modern) says(leaf string, msg any) {
	m.b.t.Helper()
	if m.wire == nil {
		m.b.says(m.name, leaf, msg)
		return
	}
	topic := message.TopicUp(m.name, leaf)
	data, err := wire.Seal(m.signer, topic, msg)
	if err != nil {
		m.b.t.Fatal(err)
	}
	m.wire(packet{topic, data})
}

// few is what an agent can that lacks most capabilities.
func few() []message.Capability {
	return []message.Capability{message.CapBootHdd, message.CapBootUefiHTTP, message.CapRequestReboot}
}
