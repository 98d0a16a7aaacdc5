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
	"rackboot/protocol/api"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// pair are two agents that have the same disk.
type pair struct {
	b    *bench
	a, z *modern
}

// twins is a site whose agent runs beside a copy of itself, which was made while it had proved a hold.
func twins(t *testing.T) (p *pair, id string) {
	t.Helper()
	b, a := modernSite(t)
	a.run = "aaaa"
	a.connects()
	id = b.place("o", "k", "n1")
	b.pass()
	a.listens()
	a.reports(b.fencedBy(a, id, "n1"))
	b.wantHold("proved", id, resource.StateFenced)
	return &pair{b, a, a.copy("zzzz")}, id
}

// copy is an agent on a copy of the disk of another.
func (m *modern) copy(run string) *modern {
	z := *m
	z.run, z.session, z.sessions, z.nonce, z.heard, z.syncs, z.heeds, z.seq = run, "", 0, "", "", nil, time.Time{}, 0
	z.applied, z.digests, z.bodies = maps.Clone(m.applied), maps.Clone(m.digests), maps.Clone(m.bodies)
	return &z
}

// listen gives both all that was sent, and what comes of it.
func (p *pair) listen() {
	p.b.t.Helper()
	for n := 0; len(p.b.sent) > 0; n++ {
		if n > 50 {
			p.b.t.Fatal("hub and agents never come to an end")
		}
		in := p.b.sent
		p.b.sent = nil
		for _, v := range in {
			p.a.takes(v)
			p.z.takes(v)
		}
	}
}

// meets has the copy connect, and report as an agent does that was answered.
func (p *pair) meets() {
	p.b.t.Helper()
	p.z.begins()
	p.z.hello()
	p.listen()
	p.z.reports(off("n1"))
	p.listen()
}

func (p *pair) standings() string {
	return fmt.Sprintf("%s, %s", p.a.aside.Standing(p.a.incarnation), p.z.aside.Standing(p.z.incarnation))
}

func (p *pair) want(when, standings string) {
	p.b.t.Helper()
	if got := p.standings(); got != standings {
		p.b.t.Errorf("%s: they are %s, want %s", when, got, standings)
	}
}

func (p *pair) keep(run string) error {
	_, err := p.b.control.Members.KeepAgent(ctx(p.b.t), "r1", api.KeepRequest{Run: run, Reason: "why"}, "ann")
	return err
}

func (p *pair) runs() []resource.AgentRun {
	p.b.t.Helper()
	a, err := store.Get[*resource.Agent](p.b.store.Objects, p.a.name)
	if err != nil {
		p.b.t.Fatal(err)
	}
	p.b.control.Status.Decorate(a)
	return a.Status.Runs
}

// settle lets time pass: both report, and the hub says what it has to.
func (p *pair) settle() {
	p.b.t.Helper()
	for range 4 {
		p.b.now = p.b.now.Add(3 * time.Second)
		for _, m := range []*modern{p.a, p.z} {
			if m.nonce != "" {
				m.reports(off("n1"))
			}
			p.listen()
		}
		p.b.control.tick()
		p.listen()
	}
}

// An agent that reconnects, or starts anew, as often as it likes is one agent.
func TestOneAgentIsNeverTwo(t *testing.T) {
	b, m := modernSite(t)
	for i := range 50 {
		m.run = fmt.Sprint("run", i)
		if i%3 == 0 {
			m.heard = "" // a new process
		}
		m.connects()
		m.reports(off("n1"))
		m.listens()
		if i%7 == 0 {
			b.restart()
			b.control.Link.Announce()
			m.listens()
		}
	}
	if got := m.conditions(); strings.Contains(got, "AgentCopied") || m.aside != (decide.Aside{}) {
		t.Errorf("one agent: %s, %+v", got, m.aside)
	}
}

// Whatever an agent said in earlier sessions and runs, that comes once more or late, in any order: it is
// one agent.
func TestPlayedBackSessionsAreNoTwin(t *testing.T) {
	b, m := modernSite(t)
	var tape []packet
	m.takes(packet{topic: message.TopicDown(m.name, "none")}) // makes its keys
	m.wire = func(v packet) {
		tape = append(tape, v)
		b.control.Link.Receive(v.topic, v.payload)
	}
	play := func() {
		for _, v := range tape[max(0, len(tape)-40):] {
			b.control.Link.Receive(v.topic, v.payload)
		}
		for i := len(tape) - 1; i >= max(0, len(tape)-40); i-- {
			b.control.Link.Receive(tape[i].topic, tape[i].payload)
		}
	}
	for i := range 30 {
		m.run = fmt.Sprint("run", i)
		m.begins()
		m.hello()
		if i%2 == 0 {
			play() // before the agent has heard what it was answered
		}
		m.listens()
		m.reports(off("n1"))
		play()
		b.now = b.now.Add(3 * time.Second)
		m.listens()
		if i%5 == 0 {
			b.restart()
			b.control.Link.Announce()
			play()
			m.listens()
		}
	}
	if got := m.conditions(); strings.Contains(got, "AgentCopied") || m.aside != (decide.Aside{}) {
		t.Errorf("one agent and what it said before: %s, %+v", got, m.aside)
	}
}

// Two agents of one disk are noticed as soon as both have spoken. Both stand aside; nothing that they
// proved counts, documents but holds are not sent, and nothing that they acknowledge counts.
func TestTwoOfOneDiskStandAside(t *testing.T) {
	p, id := twins(t)
	b := p.b
	p.meets()
	p.want("once both have spoken", "stands, stands")
	b.wantHold("of two", id, resource.StateEnforced)
	if b.happened(resource.EventAgentCopied) != 1 || !strings.Contains(p.a.conditions(), "AgentCopied") {
		t.Errorf("%d events, conditions %s", b.happened(resource.EventAgentCopied), p.a.conditions())
	}
	p.a.reports(b.fencedBy(p.a, id, "n1"))
	p.listen()
	b.wantHold("with a receipt", id, resource.StateEnforced)
	b.apply(storetest.Claim("c1", "n1"))
	next := b.place("o", "k2", "n1")
	b.pass()
	holds := 0
	for range 60 {
		b.now = b.now.Add(time.Second)
		b.control.tick()
		for _, v := range b.sent {
			if strings.Contains(v.topic, "/d/rack") {
				t.Fatal("the rack's document is sent")
			}
			if strings.HasSuffix(v.topic, "/d/hold") {
				holds++
			}
		}
		p.listen()
	}
	if l := p.a.ledger(); holds < 2 || l.Acked["hold"] == l.Sent["hold"].Head {
		t.Errorf("the hold document was sent %d times, acknowledged %v", holds, l.Acked)
	}
	if h, _ := b.hold(next); h.Status.Word == resource.HoldFenced {
		t.Errorf("the new hold is %+v", h.Status)
	}
	// A restart of the hub and of both changes nothing.
	b.restart()
	b.control.Link.Announce()
	p.listen()
	p.a.run, p.z.run = "aaab", "zzzy"
	for _, m := range []*modern{p.z, p.a} {
		m.begins()
		m.heard = ""
		m.hello()
		p.listen()
	}
	p.settle()
	p.want("after restarts", "stands, stands")
	if runs := p.runs(); len(runs) != 2 || runs[0].Self == "" || runs[1].Self == "" || runs[0].Self == runs[1].Self || !strings.HasPrefix(runs[0].Host, "host of ") {
		t.Errorf("people see %+v", runs)
	}
	if b.happened(resource.EventAgentCopied) != 1 {
		t.Errorf("%d events", b.happened(resource.EventAgentCopied))
	}
}

// Somebody says which goes on. It does, with requests of the time before ended and its holds proved anew;
// the other one is superseded, whenever it comes. A hub that dies between loses nothing.
func TestKeepAgent(t *testing.T) {
	for _, row := range []struct {
		name string
		then func(p *pair) // after the word was given, before anybody has heard it
	}{
		{"at once", func(*pair) {}},
		{"the hub restarts", func(p *pair) { p.b.sent = nil; p.b.restart(); p.b.control.Link.Announce() }},
		{"the chosen one restarts before it hears it", func(p *pair) {
			p.b.sent = nil
			p.a.run, p.a.heard = "aaac", ""
			p.a.begins()
			p.a.hello()
		}},
		{"the chosen one restarts after it took the incarnation", func(p *pair) {
			in := p.b.sent
			p.b.sent = nil
			for _, v := range in {
				p.a.takes(v)
			}
			p.b.sent = nil // its first Hello is lost, or the answer
			p.a.run, p.a.heard = "aaac", ""
			p.a.begins()
			p.a.hello()
		}},
		{"both, and the hub", func(p *pair) {
			p.b.sent = nil
			p.b.restart()
			for _, m := range []*modern{p.z, p.a} {
				m.run, m.heard = m.run+"2", ""
				m.begins()
				m.hello()
				p.listen()
			}
		}},
		{"the other one is gone", func(p *pair) { p.z = p.z.copy("none"); p.z.name = "r1-9" }},
	} {
		t.Run(row.name, func(t *testing.T) {
			p, id := twins(t)
			b := p.b
			b.request("q", resource.RequestReboot)
			b.pass()
			p.a.listens()
			z := p.z
			p.meets()
			p.settle()
			if err := p.keep("cccc"); protocol.CodeOf(err) != protocol.CodeNotFound {
				t.Errorf("a run that nobody has: %v", err)
			}
			shared := p.a.incarnation
			b.sent = nil
			if err := p.keep("aaa"); protocol.CodeOf(err) != protocol.CodeNotFound {
				t.Errorf("too little of a run: %v", err)
			}
			if err := p.keep("aaaa"); err != nil {
				t.Fatal(err)
			}
			row.then(p)
			p.listen()
			p.settle()
			if got := p.a.aside.Standing(p.a.incarnation); got != decide.AsideNone || p.a.incarnation == shared {
				t.Fatalf("the chosen one is %s with incarnation %s", got, p.a.incarnation)
			}
			if p.z == z && !z.aside.Superseded {
				t.Errorf("the other one is %+v", z.aside)
			}
			if got := p.a.conditions(); strings.Contains(got, "AgentCopied") || p.runs() != nil {
				t.Errorf("conditions %s, runs %v", got, p.runs())
			}
			if l := p.a.ledger(); l.Peer.Incarnation != p.a.incarnation || b.outcome("q").Outcome != resource.OutcomeUnknown {
				t.Errorf("the hub knows %+v, the request is %+v", l.Peer, b.outcome("q"))
			}
			if h, _ := b.hold(id); h.Status.Word == resource.HoldFenced {
				t.Errorf("the hold is %+v, and was not proved anew", h.Status)
			}
			b.now = b.now.Add(time.Minute)
			p.a.reports(b.fencedBy(p.a, id, "n1"))
			b.wantHold("proved anew", id, resource.StateFenced)
			b.pass()
			p.listen()
			p.settle()
			if !p.a.acked() {
				t.Errorf("it acknowledged %v of %v", p.a.ledger().Acked, p.a.ledger().Sent)
			}
			if b.happened(resource.EventAgentKept) != 1 {
				t.Errorf("%d events", b.happened(resource.EventAgentKept))
			}
			if err := p.keep("zzzz"); protocol.CodeOf(err) != protocol.CodeConflict {
				t.Errorf("another choice, afterwards: %v", err)
			}
			// The one that was not chosen comes back from a copy that never heard of anything.
			p.z = z.copy("late")
			p.z.name, p.z.incarnation, p.z.aside = p.a.name, shared, decide.Aside{}
			was := p.a.ledger()
			p.z.begins()
			p.z.hello()
			p.listen()
			p.z.nonce = "guessed"
			p.settle()
			if !p.z.aside.Superseded || p.a.aside != (decide.Aside{}) || p.a.ledger().Peer.Incarnation != was.Peer.Incarnation || b.control.Link.Session(p.a.name) != p.a.session {
				t.Errorf("a late copy is %+v, the chosen one %+v", p.z.aside, p.a.aside)
			}
			if strings.Contains(p.a.conditions(), "AgentCopied") {
				t.Error("a late copy makes two again")
			}
		})
	}
}

// Another choice may be made until the first was heard; who had taken that is told.
func TestKeepAnotherAgent(t *testing.T) {
	p, _ := twins(t)
	p.meets()
	p.settle()
	if err := p.keep("aaaa"); err != nil {
		t.Fatal(err)
	}
	in := p.b.sent
	p.b.sent = nil
	p.a.wire = func(packet) {} // what it says of it does not come through
	for _, v := range in {
		p.a.takes(v)
	}
	p.a.wire = nil
	if err := p.keep("aaaa"); err != nil {
		t.Errorf("the same once more: %v", err)
	}
	if p.a.aside.Standing(p.a.incarnation) != decide.AsideTaken {
		t.Fatalf("it is %+v", p.a.aside)
	}
	if err := p.keep("zzzz"); err != nil {
		t.Fatal(err)
	}
	p.listen()
	p.settle()
	p.want("after another choice", "superseded, none")
}

// A hub that was restored from a copy of before hears it from the agents.
func TestAsideIsHeardFromAgents(t *testing.T) {
	b, m := modernSite(t)
	m.run = "aaaa"
	m.aside = decide.Aside{Incarnation: m.incarnation, Self: "self"}
	m.connects()
	if runs := (&pair{b: b, a: m}).runs(); len(runs) != 1 || runs[0].Self != "self" || !strings.Contains(m.conditions(), "AgentCopied") {
		t.Errorf("people see %+v, %s", runs, m.conditions())
	}
	p := &pair{b: b, a: m, z: m.copy("none")}
	p.z.name = "r1-9"
	if err := p.keep("aaaa"); err != nil {
		t.Fatal(err)
	}
	p.listen()
	p.settle()
	if got := m.aside.Standing(m.incarnation); got != decide.AsideNone {
		t.Errorf("it is %s", got)
	}
}

// An older copy lacks what was acknowledged since, as a disk that was rolled back does. The run before is
// asked first whether it still speaks: a copy is told nothing else, and what it holds since before its
// release does not come back. A disk that was rolled back takes a new incarnation a moment later.
func TestOlderCopyIsNoRollback(t *testing.T) {
	p, id := twins(t)
	b := p.b
	if _, err := b.store.Holds.Release(ctx(t), id, "o", "over"); err != nil {
		t.Fatal(err)
	}
	b.pass()
	p.a.listens()
	b.says(p.a.name, message.LeafApplied, message.Applied{Doc: "hold", Head: p.a.applied["hold"], Digest: p.a.digests["hold"], Nonce: p.a.nonce, Released: []string{id}})
	b.lane()
	if _, there := b.hold(id); there {
		t.Fatal("the hold lies on")
	}
	p.z.begins()
	p.z.hello()
	p.listen()
	held := off("n1")
	held.Holds = []resource.HoldReport{{ID: id, Word: resource.HoldEnforced, EnforcedAt: b.now, Hold: &resource.ActiveHold{ID: id, HoldSpec: storetest.Hold("o", "k", "n1").Spec}}}
	p.z.reports(held)
	p.listen()
	p.settle()
	p.z.reports(held)
	p.listen()
	p.want("an older copy", "stands, stands")
	for _, s := range p.z.syncs {
		if s.Renew != "" {
			t.Error("the copy is told to take a new incarnation")
		}
	}
	if _, there := b.hold(id); there {
		t.Error("a hold that was released is taken over from the copy")
	}

	b, m := modernSite(t)
	m.run = "before"
	m.connects()
	was := m.incarnation
	clearDocs := func() { clear(m.applied); clear(m.digests) }
	b.place("o", "k", "n1")
	b.pass()
	m.listens()
	clearDocs()
	m.run, m.heard = "after", ""
	m.begins()
	m.deaf = true
	m.hello()
	for range 8 { // the agent has pauses between its Hellos
		in := b.sent
		b.sent = nil
		for _, v := range in {
			m.takes(v)
		}
		b.now = b.now.Add(time.Second)
		b.control.tick()
	}
	if m.incarnation == was {
		t.Error("a disk that was rolled back is not told so")
	}
}

// A hub that dies as soon as it has written that there are two, or which goes on, says so when it is back.
func TestCopiesKilled(t *testing.T) {
	p, _ := twins(t)
	b := p.b
	p.z.begins()
	p.z.hello()
	b.dies("hub.copies.written", func() {
		p.listen()
		p.z.reports(off("n1"))
		p.listen()
	})
	b.sent = nil
	b.control.Link.Announce()
	p.listen()
	p.settle()
	p.want("the hub died when it had seen two", "stands, stands")
	b.dies("hub.copies.written", func() { _ = p.keep("aaaa") })
	b.sent = nil
	b.control.Link.Announce()
	p.listen()
	p.settle()
	p.want("the hub died when it was told which goes on", "none, superseded")
}
