package rack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rackboot/agent"
	"rackboot/agent/local"
	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// open opens the newest message of a leaf that the agent has published.
func open[T any](b *bench, leaf string) (m T, ok bool) {
	b.t.Helper()
	b.mu.Lock()
	raw := b.up[leaf]
	b.mu.Unlock()
	if raw == nil {
		return m, false
	}
	if err := wire.Open(wire.NewVerifier(wire.NewSigner(b.key).Public()), message.TopicUp(agentID, leaf), raw, &m); err != nil {
		b.t.Fatal(err)
	}
	return m, true
}

// conds waits for the agent's conditions to be so and returns them as "Code: message".
func (b *bench) conds(what string, ok func(string) bool) string {
	b.t.Helper()
	got := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		m, have := open[message.Report](b, message.LeafReport)
		got = ""
		for _, c := range m.Conditions {
			got += fmt.Sprintf("%s: %s\n", c.Code, c.Message)
		}
		if have && ok(got) {
			return got
		}
	}
	b.t.Fatalf("%s did not come; the conditions are %q", what, got)
	return ""
}

func contains(part string) func(string) bool {
	return func(s string) bool { return strings.Contains(s, part) }
}

func lacks(part string) func(string) bool {
	return func(s string) bool { return !strings.Contains(s, part) }
}

// session waits for a Hello of another session than the one before.
func (b *bench) session(before string) string {
	b.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if m, ok := open[message.Hello](b, message.LeafHello); ok && m.Session != before {
			return m.Session
		}
	}
	b.t.Fatal("no hello")
	return ""
}

// refuse has the agent refuse a document, so that the next report is known to be of
// after what was received before.
func (b *bench) refuse(a *agent.Agent, leaf string) {
	b.t.Helper()
	b.deliver(a, leaf, "properly signed, and no document")
	b.conds("the refusal of "+leaf, contains(leaf+": "))
}

// TestAnswersOfOtherSessions: only the answer to its present Hello lets a replaced
// agent serve again; an answer that somebody plays back does not (P11).
func TestAnswersOfOtherSessions(t *testing.T) {
	b := newBench(t, 1, bmcsim.Plain())
	b.link.mute(true)
	a, _ := b.start(nil)
	first := b.session("")
	b.deliver(a, message.LeafSync, message.Sync{Session: first, Heads: map[string]protocol.Head{}})
	a.Connected(b)
	second := b.session(first)
	b.deliver(a, message.LeafSync, message.Sync{Refused: resource.CondAgentReplaced})
	b.conds("the refusal", contains("AgentReplaced"))
	for i, played := range []string{first, "", "no session"} {
		b.deliver(a, message.LeafSync, message.Sync{Session: played, Heads: map[string]protocol.Head{}, EventsAcked: 1000})
		b.refuse(a, fmt.Sprintf("rack/%d", 7+i))
		b.conds("the refusal that stays", contains("AgentReplaced"))
	}
	b.deliver(a, message.LeafSync, message.Sync{Session: second, Heads: map[string]protocol.Head{}})
	b.conds("the end of the refusal", lacks("AgentReplaced"))
}

// TestHubKnowsNothing: a hub that has no record of the agent changes nothing at it: one that
// serves goes on, and one that was replaced stays so.
func TestHubKnowsNothing(t *testing.T) {
	b := newBench(t, 1, bmcsim.Plain())
	b.socket = socketPath(t)
	b.link.mute(true)
	a, _ := b.start(nil)
	unknown := message.Sync{Refused: resource.CondAgentUnknown}
	replaced := func() bool {
		b.t.Helper()
		s, err := local.NewClient(b.socket).Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.Replaced
	}
	b.deliver(a, message.LeafSync, unknown)
	b.conds("what the hub says", contains("AgentUnknown"))
	if replaced() {
		t.Error("it counts as replaced")
	}
	b.deliver(a, message.LeafSync, message.Sync{Refused: resource.CondAgentReplaced})
	b.conds("the refusal", contains("AgentReplaced"))
	b.deliver(a, message.LeafSync, unknown)
	b.refuse(a, "hold") // as a mark
	if !replaced() {
		t.Error("a hub that knows nothing ended what another word had said")
	}
	b.deliver(a, message.LeafSync, message.Sync{Session: b.session(""), Heads: map[string]protocol.Head{}})
	b.conds("the end of both", func(s string) bool { return lacks("AgentReplaced")(s) && lacks("AgentUnknown")(s) })
	if replaced() {
		t.Error("it stays replaced after an answer")
	}
}

// TestTroubleIsOfItsDocument: one good document does not end another's trouble, and
// a repetition does not hide a rejected entry.
func TestTroubleIsOfItsDocument(t *testing.T) {
	b := newBench(t, 1, bmcsim.Plain())
	b.link.mute(true)
	a, _ := b.start(nil)
	rack := func(version uint64, bad bool) {
		in := b.intents[0]
		if bad {
			in.BMC.Address = ""
		}
		b.deliver(a, "rack/0", message.RackDoc{
			Head: protocol.Head{Epoch: 1, Version: version}, Agent: agentID, Term: 1, Shards: 1, Rack: &message.RackIntent{Name: "rack-a"},
			Servers: []message.ServerIntent{in},
		})
	}
	hold := func(version uint64) {
		b.deliver(a, message.LeafHold, message.HoldDoc{Head: protocol.Head{Epoch: 1, Version: version}, Agent: agentID, Term: 1})
	}
	rack(5, false)
	// The hub is behind its agent, as after a restore.
	b.deliver(a, message.LeafSync, message.Sync{Session: b.session(""), Heads: map[string]protocol.Head{"rack/0": {Epoch: 1, Version: 4}}})
	rack(4, false)
	b.conds("the older document's refusal", contains("older"))
	hold(6)
	b.refuse(a, "hold") // as a mark
	hold(7)
	b.conds("the rack's trouble alone", func(s string) bool { return contains("rack/0: ")(s) && lacks("hold: ")(s) })
	rack(8, true)
	got := b.conds("the rejected entry", contains("EntryRejected"))
	if strings.Contains(got, "DocumentRefused") {
		t.Errorf("a newer document did not end the trouble: %s", got)
	}
	rack(8, true)
	b.refuse(a, "hold")
	b.conds("the entry that stays rejected", contains("EntryRejected: rack/0: server-1"))
	rack(9, false)
	b.conds("the end", lacks("EntryRejected"))
}
