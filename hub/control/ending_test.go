package control

import (
	"strings"
	"testing"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/hub/terms"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

func endFor(text string) api.EndRequest { return api.EndRequest{Reason: text} }

// cuts notes whose connections are ended.
func (b *bench) cuts() *[]string {
	var out []string
	b.cut = func(agent string) (int, error) {
		out = append(out, agent)
		return 1, nil
	}
	return &out
}

func (b *bench) agentConds(agent string) (out []resource.ConditionCode) {
	b.t.Helper()
	a, err := store.Get[*resource.Agent](b.store.Objects, agent)
	if err != nil {
		b.t.Fatal(err)
	}
	b.control.Status.Decorate(a)
	for _, c := range a.Status.Conditions {
		out = append(out, c.Code)
	}
	return out
}

// A revoked agent is refused everywhere and at once, also by a hub that was started
// anew; its last word names the agent, its term and why.
func TestRevoke(t *testing.T) {
	b, m := modernSite(t)
	cut := b.cuts()
	b.sent = nil
	out, err := b.control.Members.Revoke(ctx(t), m.name, endFor("disk copied"), "ann")
	if err != nil || out.Rack != "r1" || out.Cut != 1 || len(*cut) != 1 || (*cut)[0] != m.name {
		t.Fatalf("%+v, cut %v, %v", out, *cut, err)
	}
	s := last[message.Sync](b, m.name, message.LeafSync)
	var word message.EndOfTerm
	if err := wire.Open(wire.NewVerifier(b.hub.Public()), wire.FactEndOfTerm, s.Ended, &word); err != nil ||
		word != (message.EndOfTerm{Agent: m.name, Term: 1, Code: resource.CondRevoked, At: b.now}) || s.Refused != resource.CondRevoked {
		t.Errorf("the word is %+v in %+v, %v", word, s, err)
	}
	if b.happened(resource.EventRevoked) != 1 {
		t.Error("no event")
	}
	for _, again := range []bool{false, true} {
		if again {
			b.restart()
			cut = b.cuts()
			if err := b.control.Members.CutRevoked(); err != nil || len(*cut) != 1 {
				t.Errorf("a hub that starts cuts %v, %v", *cut, err)
			}
		}
		if !b.control.Terms.Refused(m.name) || b.control.Terms.Refused("r1-2") {
			t.Error("the broker lets it in, or refuses another")
		}
		b.sent = nil
		m.begins()
		m.hello()
		m.reports(off("n1"))
		m.says(message.LeafEvent, message.EventBatch{Session: m.session, Incarnation: m.incarnation, Events: []resource.Event{{Seq: 1, Code: resource.EventFenced}}})
		b.apply(storetest.Claim("c"+strings.Repeat("x", len(*cut)), "n1"))
		b.pass()
		b.control.tick()
		if got := b.took(m.name); len(got) != 0 {
			t.Errorf("after a restart %t it was sent %v", again, got)
		}
		if b.happened(resource.EventFenced) != 0 {
			t.Error("its events are filed")
		}
		if got := b.agentConds(m.name); !strings.Contains(codesOf(got), "Revoked") || strings.Contains(codesOf(got), "AgentReplaced") {
			t.Errorf("conditions %v", got)
		}
	}
	// The rack is free; what the revoked one did is known to the next.
	next := b.modern(b.join("r1"))
	next.connects()
	b.pass()
	next.listens()
	if next.name != "r1-2" || !next.acked() {
		t.Errorf("the next agent is %s", next.name)
	}
	if _, err := b.control.Members.Revoke(ctx(t), m.name, endFor("again"), "ann"); err != nil || b.happened(resource.EventRevoked) != 1 {
		t.Errorf("the second time: %v", err)
	}
	if _, err := b.control.Members.Revoke(ctx(t), "r1-9", endFor("x"), "ann"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("an agent that never was: %v", err)
	}
}

func codesOf(codes []resource.ConditionCode) string {
	var out []string
	for _, c := range codes {
		out = append(out, string(c))
	}
	return strings.Join(out, ",")
}

// The agent before is told that its term is over whenever it speaks, and gets nothing
// else; the next one serves. A word that was revoked is not made milder.
func TestReplaceAgent(t *testing.T) {
	b, m := modernSite(t)
	cut := b.cuts()
	if _, err := b.control.Members.ReplaceAgent(ctx(t), "r1", endFor("  "), "ann"); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("without a reason: %v", err)
	}
	out, err := b.control.Members.ReplaceAgent(ctx(t), "r1", endFor("disk failed"), "ann")
	if err != nil || out.Agent != m.name || out.Code != resource.CondSuperseded || out.Token == nil || len(*cut) != 0 {
		t.Fatalf("%+v, cut %v, %v", out, *cut, err)
	}
	if b.control.Terms.Refused(m.name) {
		t.Error("it is not let in, and cannot be told")
	}
	for range 2 {
		b.sent = nil
		m.begins()
		m.hello()
		s := last[message.Sync](b, m.name, message.LeafSync)
		if s.Refused != resource.CondSuperseded || len(s.Ended) == 0 || s.Heads != nil {
			t.Errorf("it is told %+v", s)
		}
		b.pass()
		b.restart()
	}
	answer, err := b.control.Members.Join(ctx(t), api.JoinRequest{Token: out.Token.Token, Key: wire.NewSigner(key("r1-2")).Public()})
	if err != nil || answer.Term != 2 {
		t.Fatalf("%+v, %v", answer, err)
	}
	next := b.modern("r1-2")
	next.connects()
	b.pass()
	next.listens()
	b.sent = nil
	m.reports(off("n1"))
	if s := last[message.Sync](b, m.name, message.LeafSync); len(s.Ended) == 0 {
		t.Errorf("the one before is told %+v", s)
	}
	if _, err := b.control.Members.Revoke(ctx(t), m.name, endFor("it is not off"), "ann"); err != nil || !b.control.Terms.Refused(m.name) {
		t.Errorf("revoked after it was replaced: %v", err)
	}
	if !next.acked() || !b.control.Terms.Active(must(store.Get[*resource.Agent](b.store.Objects, "r1-2"))) {
		t.Error("the next agent does not serve")
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A hub that dies between the writes has ended the term.
func TestRevokeKilled(t *testing.T) {
	b, m := modernSite(t)
	b.cuts()
	b.dies("hub.ending.written", func() { _, _ = b.control.Members.Revoke(ctx(t), m.name, endFor("x"), "ann") })
	if !b.control.Terms.Refused(m.name) {
		t.Error("it is not revoked")
	}
	b.pass()
	if _, err := b.control.Members.NewJoinToken(ctx(t), "r1", false); err != nil {
		t.Errorf("the rack is not free: %v", err)
	}
}

// What a name tells is not believed further than it reads back.
func TestServingOfNames(t *testing.T) {
	b, _ := joined(t)
	for name, want := range map[string]terms.Standing{
		"r1-1": terms.Replaced, "r1-2": terms.Unknown, "r1-01": terms.Unknown, "r1-0": terms.Unknown, "r1": terms.Unknown,
		"r2-1": terms.Unknown, "-1": terms.Unknown, "": terms.Unknown, "r1-99999999999999999999": terms.Unknown,
	} {
		if got := b.control.Terms.OfName(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
