package control

import (
	"strings"
	"testing"
	"time"

	"rackboot/hub/fence"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// After its start the hub makes no version of an agent's documents before it knows
// that it lost nothing: a Hello in step, or else the reports of all shards.
func TestAdoptOnly(t *testing.T) {
	for _, c := range []struct {
		name string
		say  func(*bench, *modern)
		made bool
	}{
		{"not heard", func(*bench, *modern) {}, false},
		{"in step", func(_ *bench, m *modern) { m.connects() }, true},
		{"not in step", func(_ *bench, m *modern) { m.loses("rack/0"); m.connects() }, false},
		{"not in step, one of two shards", func(_ *bench, m *modern) { m.loses("rack/0"); m.connects(); m.reportsShard(0, 2) }, false},
		{"not in step, another session's shard", func(_ *bench, m *modern) {
			m.loses("rack/0")
			m.connects()
			m.reportsShard(0, 2)
			old := m.session
			m.session = "other"
			m.reportsShard(1, 2)
			m.session = old
		}, false},
		{"not in step, both shards", func(_ *bench, m *modern) {
			m.loses("rack/0")
			m.connects()
			m.reportsShard(0, 2)
			m.reportsShard(1, 2)
		}, true},
		{"not in step, and the reports never come", func(b *bench, m *modern) {
			m.loses("rack/0")
			m.connects()
			b.now = b.now.Add(time.Minute + time.Second)
			b.control.Link.Resend()
		}, true},
		{"behind", func(_ *bench, m *modern) {
			m.applied["hold"] = protocol.Head{Epoch: 1, Version: 99}
			m.connects()
			m.reports()
		}, false},
		{"another content", func(_ *bench, m *modern) {
			m.digests["hold"] = "sha256:other"
			m.connects()
			m.reports()
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, m := modernSite(t)
			m.deaf = true
			b.restart()
			if _, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1")); err != nil {
				t.Fatal(err)
			}
			was := m.ledger().Version
			b.pass()
			c.say(b, m)
			b.pass()
			if made := m.ledger().Version > was; made != c.made {
				t.Errorf("a version was made: %t, want %t; it is ready: %t", made, c.made, b.control.Link.Ready(m.name))
			}
			if behind := strings.Contains(m.conditions(), "HubBehind"); behind != (c.name == "behind" || c.name == "another content") {
				t.Errorf("conditions %s", m.conditions())
			}
		})
	}
}

// loses makes the disk an older one, before the last acknowledgement of a document,
// which the hub does not know of either.
func (m *modern) loses(leaf string) {
	m.b.t.Helper()
	l := m.ledger()
	delete(l.Acked, leaf)
	if err := m.b.store.Ledgers.Put(ctx(m.b.t), &l); err != nil {
		m.b.t.Fatal(err)
	}
	delete(m.applied, leaf)
	delete(m.digests, leaf)
}

// The lost hub's holds come back with their particulars.
func TestAdoptParticulars(t *testing.T) {
	b, m := modernSite(t)
	r := off("n1")
	r.Holds = []resource.HoldReport{
		{ID: "named", Word: resource.HoldEnforced, State: resource.StateEnforced},
		{ID: "lost", Word: resource.HoldEnforced, Hold: &resource.ActiveHold{ID: "lost", HoldSpec: resource.HoldSpec{Server: "n1", Owner: "o", HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopSoft, SoftTimeout: protocol.Duration(time.Minute), Ref: "ref"}}}},
		{ID: "odd", Word: resource.HoldEnforced, Hold: &resource.ActiveHold{ID: "odd", HoldSpec: resource.HoldSpec{Server: "n1", Owner: "o", HoldTerms: resource.HoldTerms{Key: "a b", Mode: "melt"}}}},
		{ID: "twice", Word: resource.HoldEnforced, Hold: &resource.ActiveHold{ID: "twice", HoldSpec: resource.HoldSpec{Server: "n1", Owner: "o", HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard}}}},
		{ID: "mixed", Word: resource.HoldEnforced, Hold: &resource.ActiveHold{ID: "mixed", HoldSpec: resource.HoldSpec{Server: "n2", HoldTerms: resource.HoldTerms{Key: "k"}}}},
	}
	r.Conditions = append(r.Conditions, resource.ConditionState{Code: resource.CondHoldMissing, Message: "hold lost"})
	m.reports(r)
	if _, err := store.Get[*resource.Hold](b.store.Objects, "named"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("a hold that the agent's document names was adopted: %v", err)
	}
	for id, want := range map[string]resource.HoldSpec{
		"lost":  {Owner: "o", HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopSoft, SoftTimeout: protocol.Duration(time.Minute), Ref: "ref"}},
		"odd":   {Owner: "hub", HoldTerms: resource.HoldTerms{Key: "adopted-odd", Mode: resource.StopHard}},
		"twice": {Owner: "o", HoldTerms: resource.HoldTerms{Key: "adopted-twice", Mode: resource.StopHard}}, // no two have one owner and key
		"mixed": {Owner: "hub", HoldTerms: resource.HoldTerms{Key: "adopted-mixed", Mode: resource.StopHard}},
	} {
		h, err := store.Get[*resource.Hold](b.store.Objects, id)
		if err != nil {
			t.Fatal(err)
		}
		if h.Spec.Reason = ""; h.Status.Rack != "r1" || h.Spec.Server != "n1" {
			t.Errorf("%s lies on %s in %s", id, h.Spec.Server, h.Status.Rack)
		}
		if h.Spec.Server = ""; h.Spec != want {
			t.Errorf("%s: %+v, want %+v", id, h.Spec, want)
		}
	}
}

// A release that an agent acknowledged does not come back by a late report, but by
// another disk, which enforces the hold again.
func TestReleasedOnAnotherDisk(t *testing.T) {
	b, m := modernSite(t)
	h, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1"))
	if err != nil {
		t.Fatal(err)
	}
	id := h.Metadata.Name
	if _, err := b.store.Holds.Release(ctx(t), id, "o", ""); err != nil {
		t.Fatal(err)
	}
	m.says(message.LeafApplied, message.Applied{Released: []string{id}, Nonce: m.nonce})
	r := off("n1")
	r.Holds = []resource.HoldReport{{ID: id, Word: resource.HoldEnforced, Hold: &resource.ActiveHold{ID: id, HoldSpec: resource.HoldSpec{Server: "n1", Owner: "o", HoldTerms: resource.HoldTerms{Key: "k", Mode: resource.StopHard}}}}}
	m.reports(r)
	b.lane()
	if _, err := store.Get[*resource.Hold](b.store.Objects, id); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Fatalf("a late report brought the hold back: %v", err)
	}
	m.incarnation = "disk-b"
	clear(m.applied)
	clear(m.digests)
	m.connects()
	m.reports(r)
	if _, err := store.Get[*resource.Hold](b.store.Objects, id); err != nil {
		t.Errorf("the other disk enforces a hold that nobody can release: %v", err)
	}
}

// An agent acknowledges by the digest of what it has; another digest is none.
func TestAcknowledgedByDigest(t *testing.T) {
	b, m := modernSite(t)
	m.loses("none") // writes the ledger without a change
	for _, leaf := range []string{"hold", "rack/0"} {
		l := m.ledger()
		delete(l.Acked, leaf)
		if err := b.store.Ledgers.Put(ctx(t), &l); err != nil {
			t.Fatal(err)
		}
	}
	m.deaf = true
	m.connects()
	if !m.acked() || !b.control.Link.Ready(m.name) {
		t.Errorf("acknowledged %v", m.ledger().Acked)
	}
	b.sent = nil
	b.now = b.now.Add(time.Hour)
	b.control.Link.Resend()
	if got := b.took(m.name); got != nil {
		t.Errorf("sent again: %v", got)
	}
	l := m.ledger()
	delete(l.Acked, "hold")
	if err := b.store.Ledgers.Put(ctx(t), &l); err != nil {
		t.Fatal(err)
	}
	m.says(message.LeafApplied, message.Applied{Doc: "hold", Head: l.Sent["hold"].Head, Digest: "sha256:other", Nonce: m.nonce})
	if m.acked() || !strings.Contains(m.conditions(), "HubBehind") {
		t.Errorf("another content is an acknowledgement; conditions %s", m.conditions())
	}
}

// A hub that was restored from a copy says so, also if it hears of the lost one's
// fence first and steps down.
func TestRestoredAndFenced(t *testing.T) {
	b, m := modernSite(t)
	m.applied["hold"] = protocol.Head{Epoch: 1, Version: 99}
	m.fence = message.Fence{Number: 2, Hub: "lost"}
	b.restart()
	m.heard = "of the lost hub"
	m.connects()
	m.reports()
	if got := m.conditions(); !strings.Contains(got, "HubBehind") || !strings.Contains(got, "TwoHubs") {
		t.Errorf("conditions %s", got)
	}
	if _, err := fence.RaiseEpoch(ctx(t), b.store, 0); err != nil {
		t.Fatal(err)
	}
	b.restart()
	m.connects()
	m.reports()
	b.pass()
	m.listens()
	if got := m.conditions(); strings.Contains(got, "HubBehind") || strings.Contains(got, "TwoHubs") || m.applied["hold"].Epoch != 2 || !m.acked() {
		t.Errorf("after the epoch was raised: conditions %s, documents %v", got, m.applied)
	}
}
