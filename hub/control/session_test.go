package control

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rackboot/hub/fence"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

func joined(t *testing.T) (b *bench, agent string) {
	t.Helper()
	b = newBench(t, &movingTag{})
	b.apply(storetest.Site()...)
	agent = b.join("r1")
	b.greets(agent)
	b.pass()
	return b, agent
}

// Documents go out holds first, and again until they are acknowledged; afterwards
// only what changed goes out.
func TestDocumentsUntilAcknowledged(t *testing.T) {
	b, agent := joined(t)
	both := []string{"hold", "rack/0"}
	if diff := cmp.Diff(both, b.took(agent)); diff != "" {
		t.Errorf("first: %s", diff)
	}
	b.control.Link.Resend()
	if got := b.took(agent); got != nil {
		t.Errorf("sent again at once: %v", got)
	}
	b.now = b.now.Add(3 * time.Second) // 2 s + 50 %
	b.control.Link.Resend()
	if diff := cmp.Diff(both, b.took(agent)); diff != "" {
		t.Errorf("again: %s", diff)
	}
	b.acks(agent)
	b.now = b.now.Add(10 * time.Minute)
	b.control.Link.Resend()
	b.pass()
	if got := b.took(agent); got != nil {
		t.Errorf("sent although acknowledged: %v", got)
	}
	if _, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1")); err != nil {
		t.Fatal(err)
	}
	b.pass()
	if diff := cmp.Diff([]string{"hold"}, b.took(agent)); diff != "" {
		t.Errorf("after a hold: %s", diff)
	}
}

// TestHello: the answer says what the agent should have, and what it lacks is sent at once.
// What it proves to have is acknowledged by that.
func TestHello(t *testing.T) {
	for _, c := range []struct {
		name    string
		acked   bool
		applied func(map[string]protocol.Head)
		want    []string
	}{
		{"has all and acknowledged it", true, func(map[string]protocol.Head) {}, []string{"sync"}},
		{"has all, the acknowledgements were lost", false, func(map[string]protocol.Head) {}, []string{"sync"}},
		{"has nothing", false, func(m map[string]protocol.Head) { clear(m) }, []string{"sync", "hold", "rack/0"}},
		{"has not one document", false, func(m map[string]protocol.Head) { delete(m, "hold") }, []string{"sync", "hold"}},
		{"has an older version", false, func(m map[string]protocol.Head) { m["rack/0"] = protocol.Head{Epoch: 1} }, []string{"sync", "rack/0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, agent := joined(t)
			if c.acked {
				b.acks(agent)
			}
			l, err := b.store.Ledgers.Get(agent)
			if err != nil {
				t.Fatal(err)
			}
			heads := map[string]protocol.Head{}
			for leaf, s := range l.Sent {
				heads[leaf] = s.Head
			}
			applied := maps.Clone(heads)
			c.applied(applied)
			for _, session := range []string{"one", "two"} { // repeated
				b.sent = nil
				b.hello(agent, session, applied)
				sync := last[message.Sync](b, agent, message.LeafSync)
				if sync.Session != session || sync.Refused != "" || !maps.Equal(sync.Heads, heads) {
					t.Errorf("the answer is %+v", sync)
				}
				if diff := cmp.Diff(c.want, slices.Compact(b.took(agent))); diff != "" { // the first sync asks for the nonce
					t.Errorf("%s: sent %s", session, diff)
				}
			}
		})
	}
}

// TestStrangers: what is not signed by the agent of the topic changes nothing.
func TestStrangers(t *testing.T) {
	b, agent := joined(t)
	l, err := b.store.Ledgers.Get(agent)
	if err != nil {
		t.Fatal(err)
	}
	applied := message.Applied{Doc: "hold", Head: l.Sent["hold"].Head}
	b.sent = nil
	b.forge(agent, message.LeafApplied, key("thief"), applied)
	elsewhere := message.TopicUp("r9-1", message.LeafApplied)
	b.control.Link.Receive(message.TopicUp(agent, message.LeafApplied), seal(t, key(agent), elsewhere, applied))
	b.control.Link.Receive(message.TopicDown(agent, message.LeafApplied), seal(t, key(agent), message.TopicDown(agent, message.LeafApplied), applied))
	b.control.Link.Receive(message.TopicUp(agent, message.LeafApplied), []byte("garbage"))
	b.forge(agent, message.LeafHello, key("thief"), message.Hello{Session: "s"})
	if l, err = b.store.Ledgers.Get(agent); err != nil || len(l.Acked) != 0 {
		t.Errorf("acknowledged by strangers: %v, %v", l.Acked, err)
	}
	if got := b.took(agent); got != nil {
		t.Errorf("a stranger was answered: %v", got)
	}
	b.says(agent, message.LeafApplied, applied)
	if l, _ = b.store.Ledgers.Get(agent); l.Acked["hold"] != applied.Head {
		t.Error("the agent itself is not heard")
	}
}

// An agent that was deleted, or never got its rack, is told so, and what it signs
// counts for nothing.
func TestReplaced(t *testing.T) {
	b, agent := joined(t)
	if _, err := b.store.Delete(ctx(t), resource.KindAgent, agent); err != nil {
		t.Fatal(err)
	}
	for _, leaf := range []string{message.LeafHello, message.LeafReport} {
		b.sent = nil
		b.says(agent, leaf, message.Hello{Session: "s"})
		if m := last[message.Sync](b, agent, message.LeafSync); m.Refused != resource.CondAgentReplaced {
			t.Errorf("a deleted agent's %s is answered with %+v", leaf, m)
		}
	}
	b.pass()
	second := b.join("r1")
	orphan := &resource.Agent{Spec: resource.AgentSpec{RackRef: resource.Ref{Name: "r1"}, Key: wire.NewSigner(key(agent)).Public(), Term: 1}}
	orphan.Metadata.Name = agent
	if err := b.store.Objects.Put(ctx(t), orphan); err != nil {
		t.Fatal(err)
	}
	b.pass()
	h, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.Holds.Release(ctx(t), h.Metadata.Name, "o", ""); err != nil {
		t.Fatal(err)
	}
	b.says(agent, message.LeafApplied, message.Applied{Doc: "hold", Released: []string{h.Metadata.Name}})
	b.lane()
	if _, err := store.Get[*resource.Hold](b.store.Objects, h.Metadata.Name); err != nil {
		t.Error("the release left the hub on the word of an agent that does not serve the rack")
	}
	for leaf, msg := range map[string]any{
		message.LeafHello: message.Hello{Session: "s"}, message.LeafEvent: message.EventBatch{Session: "s", Incarnation: "i"},
	} {
		b.sent = nil
		b.says(agent, leaf, msg)
		if m := last[message.Sync](b, agent, message.LeafSync); m.Refused != resource.CondAgentReplaced || m.Session != "s" {
			t.Errorf("the %s of an agent without its rack is answered with %+v", leaf, m)
		}
	}
	b.greets(second)
	b.says(second, message.LeafApplied, message.Applied{Doc: "hold", Released: []string{h.Metadata.Name}})
	b.lane()
	if _, err := store.Get[*resource.Hold](b.store.Objects, h.Metadata.Name); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("the acknowledged release stays: %v", err)
	}
}

// TestBehind: a hub that hears of newer documents than it ever made gives no more
// versions to that agent until its epoch is raised.
func TestBehind(t *testing.T) {
	b, agent := joined(t)
	b.acks(agent)
	applied := map[string]protocol.Head{"hold": {Epoch: 1, Version: 99}, "rack/0": {Epoch: 1, Version: 98}}
	b.hello(agent, "s", applied)
	if _, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1")); err != nil {
		t.Fatal(err)
	}
	before, _ := b.store.Ledgers.Get(agent)
	b.pass()
	after, _ := b.store.Ledgers.Get(agent)
	if before.Sent["hold"].Head != after.Sent["hold"].Head {
		t.Errorf("version %v was made behind the agent's back", after.Sent["hold"].Head)
	}
	q := store.StoredRequest{Request: resource.Request{ID: "q", Server: "n1", Action: resource.RequestReboot, NotAfter: b.now.Add(time.Hour)}, Rack: "r1"}
	if err := b.store.Requests.Put(ctx(t), q); err != nil {
		t.Fatal(err)
	}
	if epoch, err := fence.RaiseEpoch(ctx(t), b.store, 0); err != nil || epoch != 2 {
		t.Fatalf("epoch %d, %v", epoch, err)
	}
	b.restart()
	b.hello(agent, "s", applied)
	b.pass()
	if l, _ := b.store.Ledgers.Get(agent); l.Sent["hold"].Head.Epoch != 1 {
		t.Error("a version was made before the agent's reports told what the hub may have lost")
	}
	b.reports(agent, off("n1"))
	b.pass()
	if d := last[message.HoldDoc](b, agent, message.LeafHold); d.Head.Epoch != 2 || len(d.Holds) != 1 || len(d.Requests) != 0 {
		t.Errorf("after the epoch was raised: %+v", d)
	}
	if q, err := b.store.Requests.Get("q"); err != nil || q.Report.Outcome != resource.OutcomeUnknown {
		t.Errorf("the waiting request is %+v, %v", q.Report, err)
	}
}
