package rack

import (
	"crypto/ed25519"
	"crypto/rand"
	"testing"
	"time"

	"rackboot/agent"
	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// TestDocumentsRefused delivers hold documents that must not count. Each leaves
// the hold that lies in force, and adds none (P10, P11).
func TestDocumentsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	a, _ := b.start(nil)
	b.term = 5
	b.send(a)
	b.hold(a, "hold-1", resource.StopHard)
	b.until("the receipt", 0, fenced)
	_, strange, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	server := b.servers[0].Name
	good := message.HoldDoc{
		Head: protocol.Head{Epoch: 1, Version: 100}, Agent: agentID, Term: 5,
		Holds:    []resource.ActiveHold{{ID: "hold-2", HoldSpec: resource.HoldSpec{Server: server, HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard}}}},
		Releases: []resource.Release{{HoldID: "hold-1", Server: server}},
	}
	topic := message.TopicDown(agentID, message.LeafHold)
	b.dropsLate(a, topic, good)
	b.link.mute(true)
	// From here on the hub itself has older documents, as after a restore.
	b.deliver(a, message.LeafSync, message.Sync{Session: b.session(""), At: time.Now(), Heads: map[string]protocol.Head{message.LeafHold: {Epoch: 1, Version: 1}}})
	for name, tt := range map[string]struct {
		signer *wire.Signer
		topic  string
		change func(*message.HoldDoc)
		code   resource.ConditionCode
	}{
		"stale version":            {b.hub, topic, func(d *message.HoldDoc) { d.Head.Version = 1 }, resource.CondDocumentRefused},
		"lower epoch":              {b.hub, topic, func(d *message.HoldDoc) { d.Head.Epoch = 0 }, resource.CondDocumentRefused},
		"lower term":               {b.hub, topic, func(d *message.HoldDoc) { d.Term = 4 }, resource.CondDocumentRefused},
		"same head other content":  {b.hub, topic, func(d *message.HoldDoc) { d.Head.Version = b.version }, resource.CondDocumentRefused},
		"another agent's":          {b.hub, topic, func(d *message.HoldDoc) { d.Agent = "rack-b-1" }, resource.CondDocumentRefused},
		"another signer":           {wire.NewSigner(strange), topic, func(*message.HoldDoc) {}, resource.CondMessagesRefused},
		"the agent's own key":      {wire.NewSigner(b.key), topic, func(*message.HoldDoc) {}, resource.CondMessagesRefused},
		"sealed for another topic": {b.hub, message.TopicDown(agentID, message.LeafSync), func(*message.HoldDoc) {}, resource.CondMessagesRefused},
	} {
		t.Run(name, func(t *testing.T) {
			d := good
			tt.change(&d)
			raw, err := wire.Seal(tt.signer, tt.topic, d)
			if err != nil {
				t.Fatal(err)
			}
			b.refuses(t, a, topic, raw, tt.code)
		})
	}
	t.Run("not a message", func(t *testing.T) { b.refuses(t, a, topic, []byte("hello"), resource.CondMessagesRefused) })

	b.release(a)
	b.until("the release", 0, func(r resource.ServerReport) bool { return len(r.Holds) == 0 })
	if b.agentHas(resource.CondDocumentRefused) {
		b.eventually("the end of DocumentRefused", func() bool { return !b.agentHas(resource.CondDocumentRefused) })
	}
}

// dropsLate: a copy of an older document that was late on its way changes nothing,
// and is no trouble either (P10).
func (b *bench) dropsLate(a *agent.Agent, topic string, d message.HoldDoc) {
	b.t.Helper()
	d.Head.Version = 1
	raw, err := wire.Seal(b.hub, topic, d)
	if err != nil {
		b.t.Fatal(err)
	}
	b.mu.Lock()
	delete(b.up, message.LeafApplied)
	delete(b.up, message.LeafReport)
	b.mu.Unlock()
	b.link.give(a, topic, raw) // returns when it is done with it
	var m message.Applied
	if b.open(message.LeafApplied, &m) {
		b.t.Errorf("a late copy was answered: %+v", m)
	}
	// The hub's answer comes after the late copy, and the report with its nonce after both.
	before := b.session("")
	a.Connected(b)
	after := b.session(before)
	r := b.until("the report after", 0, func(resource.ServerReport) bool {
		m, _ := b.newest()
		return m.Session == after && m.Nonce == "nonce of "+after
	})
	if len(r.Holds) != 1 || r.Holds[0].ID != "hold-1" || b.agentHas(resource.CondDocumentRefused) {
		b.t.Errorf("after a late copy: holds %+v", r.Holds)
	}
}

// refuses gives the agent a document that must not count. One that verifies is
// answered; one that does not is counted only, because nobody knows who sent it.
func (b *bench) refuses(t *testing.T, a *agent.Agent, topic string, raw []byte, code resource.ConditionCode) {
	t.Helper()
	before := b.condition(code)
	b.mu.Lock()
	delete(b.up, message.LeafApplied)
	b.mu.Unlock()
	b.link.give(a, topic, raw)
	var m message.Applied
	answered := b.open(message.LeafApplied, &m) && m.Refused != ""
	if answered != (code == resource.CondDocumentRefused) {
		t.Errorf("answered %t: %+v", answered, m)
	}
	b.eventually(string(code), func() bool { return b.agentHas(code) && b.condition(code) != before })
	if r, ok := b.report(0); !ok || len(r.Holds) != 1 || r.Holds[0].ID != "hold-1" || !fenced(r) {
		t.Errorf("holds %+v", r.Holds)
	}
}

// condition is the message of a condition of the agent.
func (b *bench) condition(code resource.ConditionCode) string {
	m, _ := b.newest()
	for _, c := range m.Conditions {
		if c.Code == code {
			return c.Message
		}
	}
	return ""
}
