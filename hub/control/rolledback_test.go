package control

import (
	"strings"
	"testing"
	"time"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// An agent whose store has less than it said is told so, whatever documents and events it has: after a
// report of this run of the hub, and after an acknowledgement also by one that was started anew. It is
// said once, and until the agent is met with another store.
func TestStoreRolledBack(t *testing.T) {
	const said = 200
	for name, c := range map[string]struct {
		told    func(b *bench, m *modern) // at change 200
		between func(b *bench, m *modern)
		again   func(m *modern)
		renewed bool
	}{
		"less than it reported":        {told: reported, again: at(said - 1), renewed: true},
		"less than it acknowledged":    {told: acknowledged, between: started, again: at(said - 1), renewed: true},
		"less than it says in a Hello": {told: func(_ *bench, m *modern) { m.connects() }, again: at(said - 1), renewed: true},
		"as far, and something else":   {told: reported, again: func(m *modern) { m.digest = "other" }, renewed: true},
		"the same":                     {told: reported, again: at(said)},
		"more":                         {told: reported, again: at(said + 1)},
		"nothing is said":              {told: reported, again: at(0)},
		"less, and nothing is known":   {told: reported, between: started, again: at(said - 1)},
		"in guard mode":                {told: reported, again: func(m *modern) { m.store, m.guard = said-1, true }},
	} {
		t.Run(name, func(t *testing.T) {
			b, m := modernSite(t)
			m.store = 100
			m.connects()
			m.store = said
			c.told(b, m)
			if c.between != nil {
				c.between(b, m)
			}
			was := m.incarnation
			m.run = "after"
			c.again(m)
			m.deaf = true
			m.begins()
			m.hello()
			shown, other := "", false
			for range 8 { // the session before is asked first whether it still speaks
				in := b.sent
				b.sent = nil
				for _, v := range in {
					m.takes(v)
					if !other {
						shown += m.conditions()
					}
					other = m.incarnation != was
				}
				b.now = b.now.Add(time.Second)
				b.control.tick()
			}
			if renewed := m.incarnation != was; renewed != c.renewed {
				t.Errorf("told that it was rolled back: %t, want %t", renewed, c.renewed)
			}
			if got := strings.Contains(shown, "AgentRolledBack"); got != c.renewed {
				t.Errorf("the condition is said: %t, of %s", got, shown)
			}
			want := 0
			if c.renewed {
				want = 1
			}
			if n := b.happened(resource.EventAgentRolledBack); n != want {
				t.Errorf("%d events say so", n)
			}
			if got := m.conditions(); strings.Contains(got, "AgentRolledBack") {
				t.Errorf("met with another store it is still said: %s", got)
			}
		})
	}
}

// What an agent says of its store in reports is not written: a fleet at rest writes nothing.
func TestStoreHeadIsNotWritten(t *testing.T) {
	b, m := modernSite(t)
	m.store = 100
	m.connects()
	before := b.revision()
	for range 5 {
		m.store++
		m.reports(off("n1"))
		m.connects()
	}
	if b.revision() != before {
		t.Error("each word of the store's head is written")
	}
}

func reported(_ *bench, m *modern) { m.reports(off("n1")) }

func acknowledged(b *bench, m *modern) {
	b.place("o", "k", "n1")
	b.pass()
	m.listens()
}

// started has the hub started anew, and its announcement heard with what the agent has then.
func started(b *bench, _ *modern) { b.restart() }

func at(n uint64) func(m *modern) { return func(m *modern) { m.store = n } }

// A new session's reports count as soon as they have the nonce with which the hub asked for its Hello. That is no
// answer yet to the Hello: until it is, the hub says nothing that an agent could take for one.
func TestAskedSessionIsNotAnswered(t *testing.T) {
	b, m := modernSite(t)
	m.store = 200
	m.connects()
	m.reports(off("n1"))
	m.store, m.run, m.heard = 199, "after", "" // a copy of the disk, started
	m.begins()
	b.sent = nil
	m.hello()
	asks := last[message.Sync](b, m.name, message.LeafSync)
	if !asks.Again || asks.Session != m.session {
		t.Fatalf("answered with %+v", asks)
	}
	m.nonce = asks.Nonce
	m.reports(off("n1"))
	b.now = b.now.Add(2 * message.SyncEvery)
	b.sent = nil
	b.control.tick()
	if s := last[message.Sync](b, m.name, message.LeafSync); !s.Again || s.Heads != nil || s.Session != m.session {
		t.Errorf("a session whose Hello is to come is told %+v", s)
	}
}
