package rack

import (
	"crypto/ed25519"
	"crypto/rand"
	"testing"

	"rackboot/agent"
	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
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
	b.hold(a, "hold-1", protocol.StopHard)
	b.until("the receipt", 0, fenced)
	_, strange, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	server := b.servers[0].Name
	good := protocol.HoldDoc{
		Head: protocol.Head{Epoch: 1, Version: 100}, Agent: agentID, Term: 5,
		Holds:    []protocol.ActiveHold{{ID: "hold-2", Server: server, Key: "k", Mode: protocol.StopHard}},
		Releases: []protocol.Release{{HoldID: "hold-1", Server: server}},
	}
	topic := protocol.TopicDown(agentID, protocol.LeafHold)
	b.dropsLate(a, topic, good)
	// From here on the hub itself has older documents, as after a restore.
	b.deliver(a, protocol.LeafSync, protocol.Sync{Session: b.session(""), Heads: map[string]protocol.Head{protocol.LeafHold: {Epoch: 1, Version: 1}}})
	for name, tt := range map[string]struct {
		signer *wire.Signer
		topic  string
		change func(*protocol.HoldDoc)
	}{
		"stale version":            {b.hub, topic, func(d *protocol.HoldDoc) { d.Head.Version = 1 }},
		"lower epoch":              {b.hub, topic, func(d *protocol.HoldDoc) { d.Head.Epoch = 0 }},
		"lower term":               {b.hub, topic, func(d *protocol.HoldDoc) { d.Term = 4 }},
		"same head other content":  {b.hub, topic, func(d *protocol.HoldDoc) { d.Head.Version = b.version }},
		"another agent's":          {b.hub, topic, func(d *protocol.HoldDoc) { d.Agent = "rack-b-1" }},
		"another signer":           {wire.NewSigner(strange), topic, func(*protocol.HoldDoc) {}},
		"the agent's own key":      {wire.NewSigner(b.key), topic, func(*protocol.HoldDoc) {}},
		"sealed for another topic": {b.hub, protocol.TopicDown(agentID, protocol.LeafSync), func(*protocol.HoldDoc) {}},
	} {
		t.Run(name, func(t *testing.T) {
			d := good
			tt.change(&d)
			raw, err := wire.Seal(tt.signer, tt.topic, d)
			if err != nil {
				t.Fatal(err)
			}
			b.refuses(t, a, topic, raw)
		})
	}
	t.Run("not a message", func(t *testing.T) { b.refuses(t, a, topic, []byte("hello")) })

	b.release(a)
	b.until("the release", 0, func(r protocol.ServerReport) bool { return len(r.Holds) == 0 })
	if b.agentHas(protocol.CondDocumentRefused) {
		b.eventually("the end of DocumentRefused", func() bool { return !b.agentHas(protocol.CondDocumentRefused) })
	}
}

// dropsLate: a copy of an older document that was late on its way changes nothing,
// and is no trouble either (P10).
func (b *bench) dropsLate(a *agent.Agent, topic string, d protocol.HoldDoc) {
	b.t.Helper()
	d.Head.Version = 1
	raw, err := wire.Seal(b.hub, topic, d)
	if err != nil {
		b.t.Fatal(err)
	}
	b.mu.Lock()
	delete(b.up, protocol.LeafApplied)
	delete(b.up, protocol.LeafReport)
	b.mu.Unlock()
	a.Receive(topic, raw) // returns when it is done with it
	var m protocol.Applied
	if b.open(protocol.LeafApplied, &m) {
		b.t.Errorf("a late copy was answered: %+v", m)
	}
	r := b.until("the report after", 0, func(protocol.ServerReport) bool { return true })
	if len(r.Holds) != 1 || r.Holds[0].ID != "hold-1" || b.agentHas(protocol.CondDocumentRefused) {
		b.t.Errorf("after a late copy: holds %+v", r.Holds)
	}
}

func (b *bench) refuses(t *testing.T, a *agent.Agent, topic string, raw []byte) {
	t.Helper()
	b.mu.Lock()
	delete(b.up, protocol.LeafApplied)
	b.mu.Unlock()
	a.Receive(topic, raw)
	var m protocol.Applied
	if !b.open(protocol.LeafApplied, &m) || m.Refused == "" {
		t.Errorf("not refused: %+v", m)
	}
	b.eventually("DocumentRefused", func() bool { return b.agentHas(protocol.CondDocumentRefused) })
	b.mu.Lock()
	delete(b.up, protocol.LeafReport)
	b.mu.Unlock()
	r := b.until("the report after", 0, func(protocol.ServerReport) bool { return true })
	if len(r.Holds) != 1 || r.Holds[0].ID != "hold-1" || !fenced(r) {
		t.Errorf("holds %+v", r.Holds)
	}
}
