package control

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// An agent that the hub has not met proves that its Hello is new before anything is
// recorded, and is given nothing before it is recorded.
func TestFirstContact(t *testing.T) {
	b := newBench(t, &movingTag{})
	b.apply(storetest.Site()...)
	m := b.modern(b.join("r1"))
	b.apply(storetest.Claim("c1", "n1"))
	b.request("q", resource.RequestReboot)
	b.pass()
	if got := b.took(m.name); got != nil || len(m.ledger().Sent) != 0 {
		t.Errorf("an agent that was never heard got %v, the ledger %v", got, m.ledger().Sent)
	}
	m.session = "one"
	m.hello()
	if l := m.ledger(); l.Peer.Incarnation != "" {
		t.Errorf("a Hello that may be old was believed: %+v", l.Peer)
	}
	s := last[message.Sync](b, m.name, message.LeafSync)
	if !s.Again || s.Heads != nil || s.Nonce == "" || s.Session != "one" {
		t.Errorf("the answer is %+v", s)
	}
	m.listens()
	b.pass()
	m.listens()
	if l := m.ledger(); l.Peer.Incarnation != m.incarnation || l.Peer.Version != "2.0.0" || !l.Peer.Can(message.CapAsk) || !m.acked() {
		t.Errorf("the ledger has %+v, acknowledged %v", l.Peer, l.Acked)
	}
	if s := m.last(); s.Again || s.Nonce != m.nonce || s.ValidFor != message.SyncValid || s.Fence != b.control.fence.Fence() || s.Epoch != 1 {
		t.Errorf("the sync is %+v", s)
	}
	b.sent = nil
	b.control.Link.Resend()
	cfg, err := store.Get[*resource.BootConfiguration](b.store.Objects, "c1")
	q, _ := b.store.Requests.Get("q")
	if err != nil || cfg.Status.GrantFor != m.incarnation || q.Incarnation != m.incarnation {
		t.Errorf("the grant is for %q, the request for %q, want %q; %v", cfg.Status.GrantFor, q.Incarnation, m.incarnation, err)
	}
	var rack message.RackDoc
	var hold message.HoldDoc
	b.opens(m, "rack/0", &rack)
	b.opens(m, "hold", &hold)
	if boot := rack.Servers[0].Boot; boot == nil || boot.GrantFor != m.incarnation || len(boot.Grant) == 0 {
		t.Errorf("the agent is told %+v", boot)
	}
	if len(hold.Requests) != 1 || hold.Requests[0].Incarnation != m.incarnation {
		t.Errorf("the agent is asked %+v", hold.Requests)
	}
}

// To whom a grant goes is on disk before the document that carries it is.
func TestGivenBeforeItTravels(t *testing.T) {
	b, m := modernSite(t)
	for _, c := range []struct {
		name string
		ask  func()
		of   func() string
	}{
		{"grant", func() { b.apply(storetest.Claim("c1", "n1")) }, func() string {
			cfg, err := store.Get[*resource.BootConfiguration](b.store.Objects, "c1")
			if err != nil {
				t.Fatal(err)
			}
			return cfg.Status.GrantFor
		}},
		{"request", func() { b.request("q", resource.RequestReboot) }, func() string {
			q, err := b.store.Requests.Get("q")
			if err != nil {
				t.Fatal(err)
			}
			return q.Incarnation
		}},
	} {
		m.connects()
		m.reports(off("n1"))
		b.pass()
		m.listens()
		c.ask()
		b.dies("hub.given", b.pass)
		if got := c.of(); got != m.incarnation {
			t.Errorf("after the crash the %s is for %q", c.name, got)
		}
		for _, v := range b.sent {
			m.takes(v)
		}
		var rack message.RackDoc
		var hold message.HoldDoc
		b.opens(m, "rack/0", &rack)
		b.opens(m, "hold", &hold)
		if boot := rack.Servers[0].Boot; c.name == "grant" && boot != nil || len(hold.Requests) > 0 {
			t.Errorf("the %s travelled before: %+v, %+v", c.name, boot, hold.Requests)
		}
		b.sent = nil
	}
}

// A disk that was rolled back takes a new incarnation; one that was replaced has one.
// What was given to the earlier one is not given to it.
func TestDiskChanged(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*modern)
		renew  bool
	}{
		{"replaced", func(m *modern) { m.incarnation = "disk-b"; clear(m.applied); clear(m.digests) }, false},
		{"rolled back: a document", func(m *modern) { m.applied["hold"] = protocol.Head{Epoch: 1}; delete(m.digests, "hold") }, true},
		{"rolled back: all documents", func(m *modern) { clear(m.applied); clear(m.digests) }, true},
		{"rolled back: events", func(m *modern) { m.events = 1 }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, m := modernSite(t)
			b.apply(storetest.Claim("c1", "n1"))
			b.request("q", resource.RequestReboot)
			b.pass()
			m.listens()
			m.events = 2
			b.says(m.name, message.LeafEvent, message.EventBatch{Session: m.session, Incarnation: m.incarnation, Events: []resource.Event{{Seq: 1}, {Seq: 2}}})
			m.listens()
			was := m.incarnation
			m.syncs = nil
			c.change(m)
			m.connects()
			b.pass()
			m.listens()
			renewed := false
			for _, s := range m.syncs {
				renewed = renewed || s.Renew == was
			}
			if renewed != c.renew || m.incarnation == was {
				t.Errorf("renewed %t, incarnation %s", renewed, m.incarnation)
			}
			if l := m.ledger(); l.Peer.Incarnation != m.incarnation || !m.acked() {
				t.Errorf("the ledger has %+v, acknowledged %v", l.Peer, l.Acked)
			}
			if o := b.outcome("q"); o.Outcome != resource.OutcomeUnknown || !strings.Contains(o.Reason, "earlier disk") {
				t.Errorf("the request is %+v", o)
			}
			cfg, err := store.Get[*resource.BootConfiguration](b.store.Objects, "c1")
			if err != nil || cfg.Status.GrantFor != was {
				t.Errorf("the grant is for %q now, it was given to %q", cfg.Status.GrantFor, was)
			}
			n := 0
			for _, e := range b.control.Events.After(0, 100) {
				if e.Code == resource.EventRenewed {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%d events of the changed disk", n)
			}
		})
	}
}

// A Hello that somebody plays back, or that was late on its way, changes nothing.
func TestHelloPlayedBack(t *testing.T) {
	b, m := modernSite(t)
	early := m.message() // with the nonce of the session
	if _, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1")); err != nil {
		t.Fatal(err)
	}
	b.pass()
	m.listens() // acknowledges more than early tells of
	stranger := early
	stranger.Incarnation, stranger.Nonce, stranger.Session = "stolen", "", "stolen"
	announced := stranger
	announced.Nonce = b.control.Link.AnnounceNonce()
	bare := early
	bare.Capabilities = nil
	bareStranger := stranger
	bareStranger.Capabilities = nil
	for name, old := range map[string]message.Hello{
		"late, of this session": early, "another disk's, before the agent's upgrade": bareStranger, "another disk's": stranger, "another disk's, after the announcement": announced, "before the agent's upgrade": bare,
	} {
		before := m.ledger()
		b.sent = nil
		b.says(m.name, message.LeafHello, old)
		s := last[message.Sync](b, m.name, message.LeafSync)
		if !s.Again || s.Renew != "" || s.Heads != nil {
			t.Errorf("%s: answered with %+v", name, s)
		}
		if diff := cmp.Diff(before, m.ledger()); diff != "" {
			t.Errorf("%s: the ledger changed: %s", name, diff)
		}
		m.reports(off("n1"))
		if b.control.Link.Session(m.name) != m.session {
			t.Errorf("%s: the agent's session ended", name)
		}
		b.now = b.now.Add(time.Minute)
		m.syncs = nil
		m.connects()
		if m.incarnation != before.Peer.Incarnation || !m.acked() {
			t.Errorf("%s: afterwards the incarnation is %s", name, m.incarnation)
		}
	}
}

// An agent that starts again has heard no nonce. Where nothing follows from its Hello
// it is answered at once; its reports make the session the present one, and end the
// earlier.
func TestSessions(t *testing.T) {
	b, m := modernSite(t)
	old := *m
	m.heard, m.syncs = "", nil
	m.connects()
	if len(m.syncs) != 1 || m.syncs[0].Again || len(m.syncs[0].Heads) != 2 {
		t.Fatalf("answered with %+v", m.syncs)
	}
	old.reports(off("n1"))
	if r, _ := b.control.reports.Server("n1"); r == nil {
		t.Error("a session ended on a Hello that may be old")
	}
	on := off("n1")
	on.Observation.Power = protocol.PowerOn
	m.reports(on)
	if r, _ := b.control.reports.Server("n1"); r.Observation.Power != protocol.PowerOn {
		t.Error("the new session's report does not count")
	}
	refused := func() float64 {
		return b.messagesRefused("nonce")
	}
	before := refused()
	b.now = b.now.Add(2 * time.Second)
	b.sent = nil
	for range 3 {
		old.reports(off("n1"))
	}
	if r, _ := b.control.reports.Server("n1"); r.Observation.Power != protocol.PowerOn || refused() != before+3 {
		t.Errorf("an earlier session's report counts: %+v", r.Observation)
	}
	if got := fmt.Sprint(b.took(m.name)); got != "[sync]" {
		t.Errorf("three such reports are answered with %s", got)
	}
	b.says(m.name, message.LeafApplied, message.Applied{Doc: "hold", Head: m.applied["hold"], Nonce: "guessed"})
	if refused() != before+4 {
		t.Error("an Applied without the session's nonce counts")
	}
	// A hub that starts again knows no session: it asks, once for each while.
	b.restart()
	m.reports(off("n1"))
	s := last[message.Sync](b, m.name, message.LeafSync)
	if !s.Again || s.Session != m.session {
		t.Errorf("answered with %+v", s)
	}
	m.listens()
	m.reports(on)
	if r, _ := b.control.reports.Server("n1"); r == nil {
		t.Error("the session was not taken up again")
	}
}

// A disk that changed within a session ends the nonce: what the earlier one said in
// it counts no more.
func TestLateHelloOfTheEarlierDisk(t *testing.T) {
	b, m := modernSite(t)
	early := m.message()
	m.incarnation = "disk-b"
	m.hello()
	m.listens()
	if p := m.ledger().Peer; p.Incarnation != "disk-b" {
		t.Fatalf("the ledger has %+v", p)
	}
	b.says(m.name, message.LeafHello, early)
	if p := m.ledger().Peer; p.Incarnation != "disk-b" {
		t.Errorf("a late Hello brought the earlier disk back: %+v", p)
	}
}

// A shard that went and comes back was not acknowledged: an agent without it has
// lost nothing.
func TestShardComesBackToAgent(t *testing.T) {
	b, m := modernSite(t)
	var more []resource.Object
	for i := range message.MaxServersPerShard {
		name := fmt.Sprintf("x%02d", i)
		more = append(more, storetest.BMC("b"+name, "r1"), storetest.Server(name, "b"+name, "boot", fmt.Sprintf("52:54:00:00:01:%02x", i)))
	}
	b.apply(more...)
	b.pass()
	m.listens()
	var second message.RackDoc
	b.opens(m, "rack/1", &second)
	for _, s := range second.Servers {
		if _, err := b.store.Delete(ctx(t), resource.KindServer, s.Server); err != nil {
			t.Fatal(err)
		}
	}
	b.pass()
	m.listens()
	delete(m.applied, "rack/1")
	delete(m.digests, "rack/1")
	m.deaf = true
	b.apply(more...)
	b.pass()
	was := m.incarnation
	m.connects()
	if l := m.ledger(); l.Sent["rack/1"].Body == nil || m.incarnation != was {
		t.Errorf("the shard that came back is taken for a lost one: %s, %v", m.incarnation, slices.Sorted(maps.Keys(l.Sent)))
	}
}

// What is known of an agent in this run goes with the agent.
func TestContactGoesWithTheAgent(t *testing.T) {
	b, m := modernSite(t)
	if _, err := b.store.Delete(ctx(t), resource.KindAgent, m.name); err != nil {
		t.Fatal(err)
	}
	b.pass()
	m.hello()
	if got := b.control.Link.Known(); len(got) != 0 {
		t.Errorf("contacts of %v are kept", got)
	}
}
