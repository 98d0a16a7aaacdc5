package control

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/fence"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Every start takes the next number. What an earlier start sealed and nobody
// acknowledged gets a new version under the new number; what was acknowledged stays.
func TestFenceOfDocuments(t *testing.T) {
	b, m := modernSite(t)
	if b.control.fence.Fence().Number != 1 || b.control.fence.Fence().Hub == "" {
		t.Errorf("the first start has %+v", b.control.fence.Fence())
	}
	m.deaf = true
	if _, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1")); err != nil {
		t.Fatal(err)
	}
	b.pass()
	before := m.ledger()
	b.restart()
	if b.control.fence.Fence().Number != 2 {
		t.Errorf("the second start has %+v", b.control.fence.Fence())
	}
	b.sent, m.deaf = nil, false
	m.connects()
	b.control.Link.Resend()
	if got := b.took(m.name); got != nil {
		t.Errorf("the earlier start's document is sent: %v", got)
	}
	m.reports(off("n1"), off("n2"))
	b.control.Link.Resend()
	if got := b.took(m.name); got != nil || !b.control.Link.Ready(m.name) {
		t.Errorf("the earlier start's document is sent before it is sealed again: %v", got)
	}
	b.pass()
	var hold message.HoldDoc
	m.listens()
	b.opens(m, "hold", &hold)
	after := m.ledger()
	if hold.Fence != b.control.fence.Fence() || len(hold.Holds) != 1 || !hold.Head.Newer(before.Sent["hold"].Head) || after.Sent["hold"].Fence != 2 {
		t.Errorf("the unacknowledged document became %+v", hold)
	}
	if after.Sent["rack/0"].Head != before.Sent["rack/0"].Head || after.Sent["rack/0"].Fence != 1 {
		t.Errorf("the acknowledged document became %+v", after.Sent["rack/0"].Head)
	}
}

// A hub that hears of a later one, or of another with its number, makes and sends
// nothing any more. A restart takes over.
func TestStepsDown(t *testing.T) {
	for name, c := range map[string]struct {
		other message.Fence
		say   func(*modern)
		down  bool
	}{
		"hello: later":         {message.Fence{Number: 9, Hub: "x"}, (*modern).hello, true},
		"hello: rival":         {message.Fence{Number: 1, Hub: "x"}, (*modern).hello, true},
		"report: later":        {message.Fence{Number: 9, Hub: "x"}, func(m *modern) { m.reports(off("n1")) }, true},
		"applied: later":       {message.Fence{Number: 9, Hub: "x"}, func(m *modern) { m.says(message.LeafApplied, message.Applied{Fence: m.fence}) }, true},
		"ledger: later":        {message.Fence{Number: 9, Hub: "x"}, (*modern).findsOwner, true},
		"ledger: rival":        {message.Fence{Number: 1, Hub: "x"}, (*modern).findsOwner, true},
		"hello: followed none": {message.Fence{}, (*modern).hello, false},
	} {
		t.Run(name, func(t *testing.T) {
			b, m := modernSite(t)
			m.fence = c.other
			b.sent = nil
			c.say(m)
			if err := b.control.fence.Writable(); (err != nil) != c.down || c.down && (protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(protocol.HintOf(err), "stop one of the two hubs")) {
				t.Fatalf("writable: %v", err)
			}
			if !c.down {
				return
			}
			h, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1"))
			if err != nil {
				t.Fatal(err)
			}
			b.now = b.now.Add(2 * message.SyncEvery)
			b.pass()
			b.control.tick()
			b.control.Link.Announce()
			m.hello()
			if len(b.sent) != 0 {
				t.Errorf("%d messages were sent by a hub that stepped down", len(b.sent))
			}
			if got := m.conditions(); !strings.Contains(got, "TwoHubs") {
				t.Errorf("conditions %s", got)
			}
			if v := testutil.ToFloat64(gaugeOf(b, "rackboot_hub_fenced")); v != 1 {
				t.Errorf("the metric is %v", v)
			}
			if _, err := store.Get[*resource.Hold](b.store.Objects, h.Metadata.Name); err != nil {
				t.Errorf("reading ended: %v", err)
			}
			b.restart()
			if got := b.control.fence.Fence(); !got.Newer(c.other) || b.control.fence.Writable() != nil {
				t.Errorf("the restart has %+v", got)
			}
			m.fence = b.control.fence.Fence()
			m.connects()
			m.reports(off("n1"))
			b.pass()
			m.listens()
			if !m.acked() {
				t.Error("the restart did not take over")
			}
		})
	}
}

// findsOwner has the hub find in the agent's ledger that another one has written it, when a hold is to be
// entered there.
func (m *modern) findsOwner() {
	l, err := m.b.store.Ledgers.Get(m.name)
	if err != nil {
		m.b.t.Fatal(err)
	}
	l.Owner = m.fence
	if err := m.b.store.Ledgers.Put(ctx(m.b.t), &l); err != nil {
		m.b.t.Fatal(err)
	}
	if _, err := m.b.store.Holds.Create(ctx(m.b.t), storetest.Hold("o", "k", "n1")); err != nil {
		m.b.t.Fatal(err)
	}
	_ = m.b.control.reconcile(ctx(m.b.t)) // which says that another hub has taken over
	if now, err := m.b.store.Ledgers.Get(m.name); err != nil || now.Revision != l.Revision {
		m.b.t.Errorf("the other's ledger was written: %v", err)
	}
}

// Two hubs on one store know of each other by it, before any agent tells.
func TestSameStore(t *testing.T) {
	b, m := modernSite(t)
	b.now = b.now.Add(2 * message.SyncEvery)
	if _, err := fence.Begin(ctx(t), b.store.Meta, b.clock, slog.New(slog.DiscardHandler), "other"); err != nil {
		t.Fatal(err)
	}
	b.control.tick()
	if b.control.fence.Writable() == nil {
		t.Error("the first hub goes on beside the second")
	}
	if got := b.took(m.name); got != nil {
		t.Errorf("the first hub sent %v", got)
	}
}

// A store that was restored from a copy begins far above every number that the lost
// hub can have had.
func TestRestoredFence(t *testing.T) {
	b, m := modernSite(t)
	if _, err := fence.RaiseEpoch(ctx(t), b.store, 0); err != nil {
		t.Fatal(err)
	}
	b.restart()
	m.fence = message.Fence{Number: 40, Hub: "lost"}
	m.connects()
	if b.control.fence.Writable() != nil || b.control.fence.Fence().Number <= 1<<20 {
		t.Errorf("the restored hub steps down: %+v", b.control.fence.Fence())
	}
}
