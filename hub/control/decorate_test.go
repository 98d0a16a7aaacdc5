package control

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func (b *bench) server(name string) *resource.Server {
	b.t.Helper()
	s, err := store.Get[*resource.Server](b.store.Objects, name)
	if err != nil {
		b.t.Fatal(err)
	}
	b.control.Status.Decorate(s)
	return s
}

// TestDecorateServer: what is printed of a server as its rack gets an agent, is
// heard, goes dark and loses its agent.
func TestDecorateServer(t *testing.T) {
	b := newBench(t, &movingTag{})
	b.apply(storetest.Site()...)
	b.pass()
	agent := ""
	for _, c := range []struct {
		name  string
		do    func()
		phase resource.Phase
		conds string
	}{
		{"no agent", func() {}, resource.PhaseInitial, "NoAgent"},
		{"joined, not heard", func() { agent = b.join("r1") }, resource.PhaseInitial, "Dark"},
		{"heard", func() { b.reports(agent, off("n1")) }, resource.PhaseAvailable, ""},
		{"just in time", func() { b.now = b.now.Add(reports.DarkAfter - time.Millisecond) }, resource.PhaseAvailable, ""},
		{"late", func() { b.now = b.now.Add(time.Second) }, resource.PhaseAvailable, "Stale Dark"},
		{"heard again, claimed", func() {
			b.reports(agent, off("n1"))
			b.apply(storetest.Claim("c1", "n1"))
			b.pass()
		}, resource.PhaseReserved, ""},
		{"agent deleted", func() {
			if _, err := b.store.Delete(ctx(t), resource.KindAgent, agent); err != nil {
				t.Fatal(err)
			}
			b.pass()
		}, resource.PhaseReserved, "NoAgent"},
	} {
		c.do()
		s := b.server("n1")
		if s.Status.Phase != c.phase || codes(s.Status.Conditions) != c.conds {
			t.Errorf("%s: %s with %q, want %s with %q", c.name, s.Status.Phase, codes(s.Status.Conditions), c.phase, c.conds)
		}
		for _, cond := range s.Status.Conditions {
			if cond.Since.IsZero() {
				t.Errorf("%s: %s since the year 1", c.name, cond.Code)
			}
		}
	}
	if c := b.claim("c1"); c.Status.Phase != resource.PhaseReserved || codes(c.Status.Conditions) != "NoAgent" {
		t.Errorf("the claim: %s with %q", c.Status.Phase, codes(c.Status.Conditions))
	}
}

// The words of a hold; Fenced is in TestReceipts.
func TestDecorateHold(t *testing.T) {
	b, agent := joined(t)
	h, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1"))
	if err != nil {
		t.Fatal(err)
	}
	word := func() resource.HoldWord {
		v, err := store.Get[*resource.Hold](b.store.Objects, h.Metadata.Name)
		if err != nil {
			t.Fatal(err)
		}
		b.control.Status.Decorate(v)
		return v.Status.Word
	}
	if w := word(); w != resource.HoldAccepted {
		t.Errorf("before the agent has it: %s", w)
	}
	r := off("n1")
	r.Holds = []resource.HoldReport{{ID: h.Metadata.Name, Word: resource.HoldEnforced, EnforcedAt: b.now}}
	b.reports(agent, r)
	if w := word(); w != resource.HoldEnforced {
		t.Errorf("at the agent: %s", w)
	}
	if _, err := b.store.Holds.Release(ctx(t), h.Metadata.Name, "o", ""); err != nil {
		t.Fatal(err)
	}
	if w := word(); w != resource.HoldReleased {
		t.Errorf("released: %s", w)
	}
}

func TestDecorateAgent(t *testing.T) {
	b, name := joined(t)
	agent := func() *resource.Agent {
		a, err := store.Get[*resource.Agent](b.store.Objects, name)
		if err != nil {
			t.Fatal(err)
		}
		b.control.Status.Decorate(a)
		return a
	}
	if got := codes(agent().Status.Conditions); got != "Dark" {
		t.Errorf("not heard: %q", got)
	}
	b.reports(name)
	a := agent()
	if codes(a.Status.Conditions) != "" || a.Status.LastReport == nil || len(a.Status.Sent) != 2 {
		t.Errorf("heard: %+v", a.Status)
	}
	b.seq[name]++
	b.says(name, message.LeafReport, message.Report{Session: "s", Seq: b.seq[name], At: b.now, Applied: map[string]protocol.Head{"hold": {Epoch: 1, Version: 99}}})
	if got := codes(agent().Status.Conditions); got != "HubBehind" {
		t.Errorf("with a newer document than the hub's: %q", got)
	}
	b.now = b.now.Add(time.Hour)
	if got := codes(agent().Status.Conditions); got != "Dark HubBehind" {
		t.Errorf("silent: %q", got)
	}
}

func TestDecorateBootConfiguration(t *testing.T) {
	b, agent := joined(t)
	b.apply(storetest.Claim("c1", "n1"))
	b.pass()
	r := off("n1")
	r.OwnerUID = b.claim("c1").Metadata.UID
	r.Attempt = &resource.AttemptReport{URI: "http://rack/b/…/boot.efi"}
	b.reports(agent, r)
	c, err := store.Get[*resource.BootConfiguration](b.store.Objects, "c1")
	if err != nil {
		t.Fatal(err)
	}
	b.control.Status.Decorate(c)
	if c.Status.State != resource.BootConfigReady || c.Status.HTTPBootURI != r.Attempt.URI {
		t.Errorf("%+v", c.Status)
	}
	if problems, err := testutil.GatherAndLint(b.reg); err != nil || len(problems) > 0 {
		t.Errorf("metrics: %v, %v", problems, err)
	}
}
