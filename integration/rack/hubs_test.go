package rack

import (
	"fmt"
	"testing"
	"time"

	"rackboot/agent"
	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// say gives the agent a Sync of its present session, made now.
func (b *bench) say(a *agent.Agent, change func(*message.Sync)) {
	b.t.Helper()
	hello, ok := open[message.Hello](b, message.LeafHello)
	if !ok {
		b.t.Fatal("no Hello yet")
	}
	b.link.mu.Lock()
	s := message.Sync{Session: hello.Session, Protocol: protocol.Version, At: time.Now(), Epoch: 1, Fence: b.link.fence, Nonce: "nonce of " + hello.Session, ValidFor: message.SyncValid}
	b.link.mu.Unlock()
	change(&s)
	b.deliver(a, message.LeafSync, s)
}

// heard waits for a Hello that is so.
func (b *bench) heard(what string, ok func(message.Hello) bool) {
	b.t.Helper()
	b.eventually(what, func() bool {
		m, have := open[message.Hello](b, message.LeafHello)
		return have && ok(m)
	})
}

func (b *bench) holdDoc(version uint64, fence message.Fence) message.HoldDoc {
	return message.HoldDoc{
		Head: protocol.Head{Epoch: 1, Version: version}, Agent: agentID, Term: 1, Fence: fence,
		Holds: []resource.ActiveHold{{ID: fmt.Sprintf("hold-%d", version), HoldSpec: resource.HoldSpec{Server: b.servers[0].Name, HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard}}}},
	}
}

// TestTwoHubs: of two hubs the one that took over last is heeded, once it has
// answered; the other's documents and words are refused, and it is told.
func TestTwoHubs(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	one, two, copied := message.Fence{Number: 1, Hub: "hub-1"}, message.Fence{Number: 2, Hub: "hub-2"}, message.Fence{Number: 1, Hub: "hub-x"}
	b.link.fence = one
	a, stop := b.start(nil)
	b.incarnation() // the first hub has answered
	b.send(a)
	b.link.mute(true)

	b.deliver(a, message.LeafHold, b.holdDoc(50, two))
	b.heard("a Hello to who has not answered", func(m message.Hello) bool { return m.Fence == one && m.Applied["hold"].Version == b.version })
	b.deliver(a, message.LeafHold, b.holdDoc(51, copied))
	b.conds("TwoHubs", contains("TwoHubs"))
	var m message.Applied
	if !b.open(message.LeafApplied, &m) || m.Refused == "" || m.Fence != one || m.Nonce == "" {
		t.Errorf("the copy was answered %+v", m)
	}
	b.say(a, func(s *message.Sync) { s.Fence = two; s.Heads = map[string]protocol.Head{} })
	b.conds("HubBehind", contains("HubBehind")) // an empty hub takes over nothing
	b.deliver(a, message.LeafHold, b.holdDoc(52, one))
	b.until("the first hub's hold", 0, fenced)
	b.say(a, func(s *message.Sync) {
		s.Fence, s.Heads = two, map[string]protocol.Head{"hold": {Epoch: 1, Version: 52}, "rack/0": {Epoch: 1, Version: b.version}}
	})
	b.conds("the end of HubBehind, and of the hubs before", func(s string) bool { return lacks("HubBehind")(s) && lacks("TwoHubs")(s) })

	stop() // it is on disk
	a, _ = b.start(nil)
	b.heard("a Hello with the fence", func(m message.Hello) bool { return m.Fence == two })
	b.deliver(a, message.LeafHold, b.holdDoc(60, one))
	if !b.open(message.LeafApplied, &m) || m.Refused == "" || m.Fence != two {
		t.Errorf("the hub of before was answered %+v", m)
	}
	b.conds("TwoHubs again", func(s string) bool { return contains("TwoHubs")(s) && lacks("DocumentRefused")(s) })
	b.deliver(a, message.LeafHold, b.holdDoc(61, two))
	b.until("both holds", 0, func(r resource.ServerReport) bool {
		return len(r.Holds) == 2 && r.Holds[0].Hold != nil && r.Holds[1].Hold == nil
	})
}

// TestHubBehind: a hub that was restored from a copy is not taken for an answer, and
// learns what the agent has from its reports; with a raised epoch it is heeded.
func TestHubBehind(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	a, _ := b.start(nil)
	b.send(a)
	b.send(a)
	b.incarnation()
	b.link.mute(true)
	before, _ := b.newest()
	a.Connected(b)
	b.heard("the new session", func(m message.Hello) bool { return m.Session != before.Session })
	b.say(a, func(s *message.Sync) {
		s.Heads = map[string]protocol.Head{"hold": {Epoch: 1, Version: 1}, "rack/0": {Epoch: 1, Version: 1}}
	})
	b.conds("HubBehind", contains("HubBehind"))
	b.eventually("a report with the nonce", func() bool { m, _ := b.newest(); return m.Nonce == "nonce of "+m.Session })
	b.say(a, func(s *message.Sync) {
		s.Epoch, s.Heads = 2, map[string]protocol.Head{"hold": {Epoch: 1, Version: 1}, "rack/0": {Epoch: 1, Version: 1}}
	})
	b.conds("the end of HubBehind", lacks("HubBehind"))
}

// TestHelloSays: a Hello carries what the hub needs to conclude from it, and comes
// again with the hub's nonce when it asks, or when a document is lacking.
func TestHelloSays(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	b.link.fence = message.Fence{Number: 1, Hub: "hub-1"}
	a, _ := b.start(nil)
	b.incarnation()
	b.send(a)
	b.link.mute(true)
	before, _ := b.newest()
	a.Connected(b)
	b.heard("what is applied, and the nonce of before", func(m message.Hello) bool {
		return m.Session != before.Session && m.Nonce == "nonce of "+before.Session && m.Fence.Number == 1 && m.Digests["hold"] != "" &&
			m.Applied["hold"].Version == b.version && len(m.Capabilities) == len(message.Capabilities()) && m.EventTail <= m.EventHead
	})
	b.say(a, func(s *message.Sync) { s.Again, s.Nonce = true, "again" })
	b.heard("its nonce", func(m message.Hello) bool { return m.Nonce == "again" })
	b.say(a, func(s *message.Sync) {
		s.Nonce, s.Heads = "last", map[string]protocol.Head{"hold": {Epoch: 1, Version: 90}}
	})
	b.heard("a document that is lacking", func(m message.Hello) bool { return m.Nonce == "last" })
}

// TestLateSync: a Sync that a document has overtaken says nothing of the hub.
func TestLateSync(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	b.link.mute(true)
	a, _ := b.start(nil)
	b.heard("a Hello", func(message.Hello) bool { return true })
	made := time.Now()
	b.send(a)
	b.say(a, func(s *message.Sync) { s.At, s.Heads = made, map[string]protocol.Head{} })
	b.deliver(a, "rack/7", "properly signed, and no document") // as a mark
	b.conds("the mark", func(s string) bool {
		return contains("DocumentRefused")(s) && lacks("HubBehind")(s) && contains("HubUnverified")(s)
	})
	b.link.mute(false)
	b.conds("a verified hub", lacks("HubUnverified"))
}

// TestMessagesRefused: what does not verify is counted and not answered, whatever it
// is.
func TestMessagesRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	a, _ := b.start(nil)
	for i, tt := range []struct {
		topic string
		raw   []byte
		want  string
	}{
		{message.TopicDown(agentID, "sync"), []byte("hello"), `"sync": form`},
		{message.TopicDown(agentID, "rack/7"), make([]byte, 1<<20), `"rack/7": size`},
		{message.TopicAnnounce, []byte{0xd2, 0x84}, `"announce": form`},
		{message.TopicDown("rack-b-1", "hold"), nil, `hold": topic`},
	} {
		b.link.give(a, tt.topic, tt.raw)
		b.conds("the refusal", contains(fmt.Sprintf("MessagesRefused: %d messages, the last on ", i+1)))
		b.conds("its reason", contains(tt.want))
	}
	if b.open(message.LeafApplied, &message.Applied{}) || b.agentHas(resource.CondDocumentRefused) {
		t.Error("it was answered")
	}
}
