package control

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// fencedBy is the report of a server whose hold its agent has proved.
func (b *bench) fencedBy(m *modern, id, server string) resource.ServerReport {
	r := off(server)
	r.Holds = []resource.HoldReport{{
		ID: id, Word: resource.HoldFenced, State: resource.StateFenced, EnforcedAt: b.now,
		Receipt: seal(b.t, key(m.name), wire.FactReceipt, resource.Receipt{HoldID: id, Server: server, Agent: m.name, StoppedSince: b.now, ConfirmedAt: b.now}),
	}}
	return r
}

func (b *bench) wantHold(when, id string, want resource.HoldState) {
	b.t.Helper()
	h, there := b.hold(id)
	if !there || h.Status.State != want || (want == resource.StateFenced) != (h.Status.Receipt != nil && h.Status.Word == resource.HoldFenced) {
		b.t.Errorf("%s: the hold is %+v, want %s", when, h.Status, want)
	}
}

// gauge is a metric of one value.
func (b *bench) gauge(name string) float64 {
	b.t.Helper()
	families, err := b.reg.Gather()
	if err != nil {
		b.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	b.t.Fatalf("no metric %s", name)
	return 0
}

// guarding is a site whose agent had proved a hold, and lost its store since.
func guarding(t *testing.T) (b *bench, m *modern, id string, shown resource.ServerReport) {
	t.Helper()
	b, m = modernSite(t)
	id = b.place("o", "k", "n1")
	b.pass()
	m.listens()
	shown = b.fencedBy(m, id, "n1")
	m.reports(shown)
	b.wantHold("proved", id, resource.StateFenced)
	m.guard, m.deaf = true, true
	return b, m, id, shown
}

// Nothing is concluded from what an agent in guard mode lacks, whatever it says of its disk; its
// reports count, and nothing that it proved does.
func TestGuardModeIsHeard(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*modern)
	}{
		{"its store is full", func(*modern) {}},
		{"its store cannot be read", func(m *modern) { clear(m.applied); clear(m.digests); m.events, m.incarnation = 0, "" }},
		{"it started anew without one", func(m *modern) { clear(m.applied); clear(m.digests); m.events, m.incarnation, m.heard = 0, "other", "" }},
	} {
		t.Run(row.name, func(t *testing.T) {
			b, m, id, shown := guarding(t)
			before, was := m.ledger(), *m
			row.change(m)
			m.begins()
			m.hello()
			m.listens()
			b.wantHold("at its first word", id, resource.StateEnforced)
			if l := m.ledger(); l.Peer.Incarnation != before.Peer.Incarnation || l.Acked["hold"] != before.Acked["hold"] || l.Acked["rack/0"] != before.Acked["rack/0"] {
				t.Errorf("the ledger says %+v, acknowledged %v", l.Peer, l.Acked)
			}
			if s := m.last(); s.Again || s.Renew != "" || s.Heads != nil || s.Nonce == "" || s.ValidFor == 0 {
				t.Errorf("it is told %+v", s)
			}
			if b.happened(resource.EventRenewed) != 0 || b.messagesRefused("nonce") != 0 {
				t.Error("it is taken for another disk, or not heard")
			}
			m.reports(shown) // it should not have a receipt; that counts for nothing
			b.wantHold("with a receipt of before", id, resource.StateEnforced)
			h, _ := b.hold(id)
			if !strings.Contains(h.Status.Message, "guard mode") || !strings.Contains(m.conditions(), "GuardMode") || b.gauge("rackboot_hub_agent_guard_mode") != 1 {
				t.Errorf("people are told %q, %s", h.Status.Message, m.conditions())
			}
			// A hold that comes is sent, again and again; the rack's document is not.
			next := b.place("o", "k2", "n1")
			b.apply(storetest.Claim("c1", "n1"))
			b.pass()
			holds := 0
			for range 180 {
				b.now = b.now.Add(time.Second)
				b.control.tick()
				for _, v := range b.sent {
					if strings.HasSuffix(v.topic, "/d/hold") {
						holds++
					}
					if strings.Contains(v.topic, "/d/rack") {
						t.Fatal("the rack's document is sent")
					}
				}
				m.listens()
				m.reports(shown)
			}
			if holds < 3 {
				t.Errorf("the hold was sent %d times", holds)
			}
			b.wantHold("what it cannot keep", next, resource.StateAccepted)
			// It is well again, with the disk that it had.
			m.guard, m.deaf, m.applied, m.digests, m.incarnation = false, false, was.applied, was.digests, before.Peer.Incarnation
			m.hello()
			m.listens()
			if strings.Contains(m.conditions(), "GuardMode") || b.gauge("rackboot_hub_agent_guard_mode") != 0 {
				t.Errorf("afterwards %s", m.conditions())
			}
			m.reports(shown)
			b.wantHold("afterwards, with a receipt of before", id, resource.StateEnforced)
			b.now = b.now.Add(time.Minute)
			m.reports(b.fencedBy(m, id, "n1"))
			b.wantHold("proved anew", id, resource.StateFenced)
			b.pass()
			m.listens()
			if !m.acked() {
				t.Errorf("acknowledged %v", m.ledger().Acked)
			}
		})
	}
}

// What an agent said before it fell into guard mode does not end that, however late it comes.
func TestGuardModeOutlastsWhatWasSaidBefore(t *testing.T) {
	b, m, id, shown := guarding(t)
	m.guard = false
	early, was := m.message(), *m // with the present nonce
	m.guard = true
	m.hello()
	m.listens()
	for range 3 {
		b.says(m.name, message.LeafHello, early)
		was.seq += 100
		was.reports(shown)
		b.sent = nil // the answers are lost
		b.now = b.now.Add(3 * time.Second)
		b.wantHold("after what was said before", id, resource.StateEnforced)
		if !strings.Contains(m.conditions(), "GuardMode") {
			t.Fatal("guard mode ended")
		}
	}
	// Twice in guard mode: what was said between comes late.
	m.guard = false
	between := m.message()
	m.guard = true
	m.hello()
	m.listens()
	b.says(m.name, message.LeafHello, between)
	b.wantHold("after what was said between", id, resource.StateEnforced)
	// A report without the condition is asked after, and the answer counts.
	b.sent, m.guard = nil, false
	b.now = b.now.Add(time.Minute)
	m.seq += 1000
	m.reports(off("n1"))
	m.listens()
	if strings.Contains(m.conditions(), "GuardMode") {
		t.Error("guard mode does not end")
	}
}

// A report tells of guard mode where the Hello was lost; and a hub that starts hears of it anew.
func TestGuardModeByReport(t *testing.T) {
	b, m, id, shown := guarding(t)
	say := func() {
		m.seq++
		m.says(message.LeafReport, message.Report{
			Agent: m.name, Session: m.session, Incarnation: m.incarnation, Seq: m.seq, At: b.now, Servers: []resource.ServerReport{shown}, Nonce: m.nonce,
			Conditions: []resource.ConditionState{{Code: resource.CondGuardMode}},
		})
	}
	say()
	b.wantHold("by a report", id, resource.StateEnforced)
	b.restart()
	b.control.Link.Announce()
	m.listens()
	say()
	b.wantHold("after a restart of the hub", id, resource.StateEnforced)
	next := b.place("o", "k2", "n1")
	if err := b.control.Outbound.Holds.Turn(ctx(t), "r1"); err != nil {
		t.Fatal(err)
	}
	if got := b.took(m.name); !slices.Contains(got, "hold") {
		t.Errorf("hold %s is not sent: %v", next, got)
	}
}
