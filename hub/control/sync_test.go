package control

import (
	"testing"
	"time"

	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// Each agent with a session hears every minute ± 25 % what it should have, without
// asking; one that said nothing since the hub started is left alone.
func TestSyncs(t *testing.T) {
	b, m := modernSite(t)
	b.apply(storetest.Rack("r2"))
	silent := b.join("r2")
	b.pass()
	m.listens()
	var at []time.Time
	began := b.now
	for b.now.Sub(began) < 10*time.Minute {
		b.now = b.now.Add(time.Second)
		b.sent = nil
		b.control.tick()
		for _, v := range b.sent {
			if v.topic == message.TopicDown(silent, message.LeafSync) {
				t.Error("an agent without a session was told unasked")
			}
			if v.topic == message.TopicDown(m.name, message.LeafSync) {
				at = append(at, b.now)
			}
		}
		if len(at) > 0 && at[len(at)-1].Equal(b.now) {
			s := last[message.Sync](b, m.name, message.LeafSync)
			if s.Nonce != m.nonce || s.Session != m.session || len(s.Heads) != 2 || s.Digests["hold"] != m.digests["hold"] || s.ValidFor != message.SyncValid || !s.At.Equal(b.now) || s.Fence != b.control.fence.Fence() {
				t.Errorf("the sync is %+v", s)
			}
		}
	}
	if len(at) < 8 || len(at) > 14 {
		t.Errorf("%d syncs in ten minutes", len(at))
	}
	for i := 1; i < len(at); i++ {
		if pause := at[i].Sub(at[i-1]); pause < message.SyncEvery*3/4 || pause > message.SyncEvery*5/4+time.Second {
			t.Errorf("a pause of %s", pause)
		}
	}
}

func TestAnnounce(t *testing.T) {
	b, m := modernSite(t)
	announce := func() message.Announce {
		b.sent = nil
		b.control.Link.Announce()
		var a message.Announce
		if err := wire.Open(wire.NewVerifier(b.hub.Public()), message.TopicAnnounce, b.sent[0].payload, &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := announce()
	if first.Nonce == "" || first.Fence != b.control.fence.Fence() || first.Hub != b.control.fence.Fence().Hub || first.Spread != time.Second/200 {
		t.Errorf("announced %+v", first)
	}
	second := announce()
	if second.Nonce == first.Nonce || second.Hub != first.Hub {
		t.Errorf("announced again: %+v", second)
	}
	// It makes a Hello fresh, once.
	b.restart()
	b.control.Link.Announce()
	m.listens()
	if len(m.syncs) == 0 || m.last().Again || !b.control.Link.Ready(m.name) {
		t.Errorf("after the announcement: %+v", m.last())
	}
	m.hello()
	replay := m.message()
	replay.Session, replay.Nonce = "other", b.control.Link.AnnounceNonce()
	b.says(m.name, message.LeafHello, replay)
	if b.control.Link.Session(m.name) != m.session {
		t.Error("an announcement makes two sessions")
	}
}

// One agent may not keep the hub from hearing the others.
func TestMessageRate(t *testing.T) {
	b, m := modernSite(t)
	dropped := func() int {
		return int(b.messagesRefused("rate"))
	}
	b.now = b.now.Add(time.Hour)
	for range 2000 + 10 {
		b.control.Link.Receive(message.TopicUp(m.name, "noise"), nil)
	}
	if dropped() != 10 {
		t.Errorf("%d of %d messages were dropped", dropped(), 2000+10)
	}
	b.now = b.now.Add(time.Second)
	for range 200 + 10 {
		b.control.Link.Receive(message.TopicUp(m.name, "noise"), nil)
	}
	if dropped() != 20 {
		t.Errorf("a second later %d were dropped", dropped())
	}
	for range 3 * 10 {
		b.control.Link.Receive(message.TopicUp("stranger-1", message.LeafHello), nil)
	}
	if got := len(b.took("stranger-1")); got != 10 {
		t.Errorf("%d strangers were answered", got)
	}
}

// Reports are ordered shard by shard.
func TestShardOrder(t *testing.T) {
	b, m := modernSite(t)
	on := off("n2")
	on.Observation.Power = protocol.PowerOn
	power := func(server string) protocol.PowerState {
		r, _ := b.control.reports.Server(server)
		if r == nil {
			return ""
		}
		return r.Observation.Power
	}
	m.seq = 10
	m.reportsShard(1, 2, on)
	m.seq = 4
	m.reportsShard(0, 2, off("n1")) // overtaken by another shard's
	if power("n1") != protocol.PowerOff || power("n2") != protocol.PowerOn {
		t.Errorf("n1 %q, n2 %q", power("n1"), power("n2"))
	}
	m.seq = 8
	m.reportsShard(1, 2, off("n2")) // overtaken by its own
	if power("n2") != protocol.PowerOn {
		t.Error("an older report of a shard counts")
	}
	if r, _, _ := b.control.reports.Agent(m.name); r.Seq != 11 {
		t.Errorf("the agent's own part is of report %d", r.Seq)
	}
	m.seq = 20
	m.reportsShard(reports.MaxShards, 2, off("n2"))
	m.reportsShard(-1, 2, off("n2"))
	if power("n2") != protocol.PowerOn {
		t.Error("a shard that cannot be counts")
	}
}

func TestAgentConditions(t *testing.T) {
	b, m := modernSite(t)
	m.reports(off("n1"))
	if got := m.conditions(); got != "" {
		t.Fatalf("at first: %s", got)
	}
	forge := func() { b.forge(m.name, message.LeafReport, key("thief"), message.Report{}) }
	forge()
	b.control.Link.Receive(message.TopicUp(m.name, message.LeafApplied), make([]byte, wire.MaxMessage+1))
	b.control.Link.Receive(message.TopicUp(m.name, message.LeafHello), []byte("garbage"))
	b.control.Link.Receive(message.TopicUp(m.name, "odd"), nil)
	b.control.Link.Receive("rb/v2/other", nil)
	for r, n := range map[string]float64{"signature": 1, "size": 1, "form": 1, "topic": 2} {
		if got := b.messagesRefused(r); got != n {
			t.Errorf("%s: %v messages, want %v", r, got, n)
		}
	}
	forge()
	a, err := store.Get[*resource.Agent](b.store.Objects, m.name)
	if err != nil {
		t.Fatal(err)
	}
	b.control.Status.Decorate(a)
	if c := a.Status.Conditions; codes(c) != "MessagesRefused" || c[0].Message != "5 messages on the agent's topics, the last one on report: signature" {
		t.Errorf("forged: %+v", c)
	}
	b.now = b.now.Add(10*time.Minute + time.Second)
	m.reports(off("n1"))
	if got := m.conditions(); got != "" {
		t.Errorf("ten minutes after the last: %s", got)
	}
	m.deaf = true
	if _, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1")); err != nil {
		t.Fatal(err)
	}
	b.pass()
	later := func(d time.Duration) string {
		b.now = b.now.Add(d)
		b.control.Link.Resend()
		m.listens()
		m.reports(off("n1"))
		return m.conditions()
	}
	if got := later(time.Minute); got != "" {
		t.Errorf("within a minute: %s", got)
	}
	if got := later(time.Second); got != "NotAcknowledged" {
		t.Errorf("a minute later: %s", got)
	}
	if _, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k2", "n1")); err != nil {
		t.Fatal(err)
	}
	b.pass()
	if got := later(time.Second); got != "NotAcknowledged" {
		t.Errorf("with a newer version: %s", got)
	}
	b.now = b.now.Add(reports.DarkAfter + time.Second)
	if got := m.conditions(); got != "Dark" {
		t.Errorf("silent: %s", got)
	}
	m.deaf = false
	if got := later(2 * time.Minute); got != "" {
		t.Errorf("acknowledged: %s", got)
	}
}

// What an agent cannot do is not asked of it, and is said.
func TestAgentTooOld(t *testing.T) {
	b := newBench(t, &movingTag{})
	b.apply(storetest.Site()...)
	m := b.modern(b.join("r1"))
	m.caps = []message.Capability{message.CapBootHdd, message.CapRequestReboot}
	m.connects()
	b.apply(storetest.Claim("c1", "n1"))
	b.request("able", resource.RequestReboot)
	b.request("unable", resource.RequestPowerOff)
	b.pass()
	m.listens()
	var rack message.RackDoc
	b.opens(m, "rack/0", &rack)
	if rack.Servers[0].Boot != nil || rack.Servers[0].Owner.Name != "c1" {
		t.Errorf("the agent is told %+v", rack.Servers[0])
	}
	m.reports(off("n1"), off("n2"))
	if s := b.server("n1"); codes(s.Status.Conditions) != "AgentTooOld" {
		t.Errorf("n1: %s", codes(s.Status.Conditions))
	}
	if s := b.server("n2"); codes(s.Status.Conditions) != "" {
		t.Errorf("n2: %s", codes(s.Status.Conditions))
	}
	if o := b.outcome("unable"); o.Outcome != resource.OutcomeRefused {
		t.Errorf("the request that it cannot do is %+v", o)
	}
	if o := b.outcome("able"); o.Outcome.Ended() {
		t.Errorf("the request that it can do is %+v", o)
	}
	m.caps = message.Capabilities()
	m.connects()
	b.pass()
	m.listens()
	b.opens(m, "rack/0", &rack)
	if s := b.server("n1"); rack.Servers[0].Boot == nil || codes(s.Status.Conditions) != "" {
		t.Errorf("after the upgrade: %+v, %s", rack.Servers[0].Boot, codes(s.Status.Conditions))
	}
}

// An agent whose reports count before its Hello was proved is asked for one, and not
// told what it should have: it would take that for the answer, and say no Hello.
func TestNotGreetedIsAsked(t *testing.T) {
	b, m := modernSite(t)
	b.restart()
	b.sent = nil
	m.begins()
	m.heard = "of long ago"
	m.hello()
	m.nonce = last[message.Sync](b, m.name, message.LeafSync).Nonce
	b.sent = nil
	m.reports(off("n1")) // it overtakes the Hello
	b.now = b.now.Add(tickPause)
	b.control.tick()
	if s := last[message.Sync](b, m.name, message.LeafSync); !s.Again || s.Nonce == "" || s.Heads != nil {
		t.Errorf("it is told %+v", s)
	}
}

// messagesRefused is rackboot_hub_messages_refused_total for a reason.
func (b *bench) messagesRefused(reason string) float64 {
	b.t.Helper()
	families, err := b.reg.Gather()
	if err != nil {
		b.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "rackboot_hub_messages_refused_total" && m.GetLabel()[0].GetValue() == reason {
				return m.GetCounter().GetValue()
			}
		}
	}
	b.t.Fatalf("no message is counted as refused for %q", reason)
	return 0
}
