package control

import (
	"strings"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

func (b *bench) claim(name string) *resource.Claim {
	b.t.Helper()
	c, err := store.Get[*resource.Claim](b.store.Objects, name)
	if err != nil {
		b.t.Fatal(err)
	}
	b.control.Status.Decorate(c)
	return c
}

func (b *bench) configs() int { return len(store.List[*resource.BootConfiguration](b.store.Objects)) }

func labelled(name string) *resource.Claim {
	c := storetest.Claim(name, "")
	c.Spec.ServerRef, c.Spec.ServerSelector = nil, &resource.Selector{MatchLabels: map[string]string{"row": "7"}}
	return c
}

// A claim by label takes only what is free, not held and read Off, and says why
// there is none; by name it takes the server whatever it does.
func TestClaimBinds(t *testing.T) {
	b, agent := joined(t)
	n1 := storetest.Server("n1", "b1", "boot", "52:54:00:00:00:01")
	n1.Metadata.Labels = map[string]string{"row": "7"}
	b.apply(n1, labelled("label"))
	unbound := func(when, reason string) {
		t.Helper()
		b.pass()
		c := b.claim("label")
		if c.Status.Server != "" || codes(c.Status.Conditions) != "Unbound" || !strings.Contains(c.Status.Conditions[0].Message, reason) {
			t.Errorf("%s: server %q, %+v; want Unbound with %q", when, c.Status.Server, c.Status.Conditions, reason)
		}
	}
	unbound("never read", "none of them is free")
	on := off("n1")
	on.Observation.Power = protocol.PowerOn
	b.reports(agent, on)
	unbound("On", "none of them is free")
	h, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1"))
	if err != nil {
		t.Fatal(err)
	}
	b.reports(agent, off("n1"))
	unbound("held", "none of them is free")
	if _, err := b.store.Holds.Release(ctx(t), h.Metadata.Name, "o", ""); err != nil {
		t.Fatal(err)
	}
	b.pass()
	if c := b.claim("label"); c.Status.Server != "n1" {
		t.Errorf("a free server was not taken: %+v", c.Status)
	}
	b.apply(storetest.Claim("named", "n1"), storetest.Claim("other", "n2"))
	b.pass()
	if c := b.claim("named"); c.Status.Server != "" || !strings.Contains(c.Status.Conditions[0].Message, "has another claim") {
		t.Errorf("one server has two claims: %+v", c.Status)
	}
	if c := b.claim("other"); c.Status.Server != "n2" {
		t.Errorf("a named server was not taken: %+v", c.Status)
	}
}

// An image that cannot be booted is a condition and nothing else; when the registry
// or the tag is corrected, the claim goes on by itself.
func TestClaimImage(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*flakyRegistry, bool)
		want  resource.ConditionCode
	}{
		{"registry down", func(f *flakyRegistry, on bool) { f.down = on }, resource.CondRegistryUnavailable},
		{"no UKI in it", func(f *flakyRegistry, on bool) { f.bare = on }, resource.CondImageInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			images := &flakyRegistry{}
			c.spoil(images, true)
			b := newBench(t, images)
			b.apply(storetest.Site()...)
			agent := b.join("r1")
			b.greets(agent)
			b.pass()
			b.acks(agent)
			b.apply(storetest.Claim("c1", "n1"))
			b.pass()
			if got := codes(b.claim("c1").Status.Conditions); !strings.HasPrefix(got, string(c.want)) {
				t.Errorf("conditions %s, want %s", got, c.want)
			}
			b.now = b.now.Add(time.Minute + time.Second)
			b.pass() // asked again, with the same answer
			if got := told(b, resource.EventImageRefused); len(got) != 1 || !strings.Contains(got[0], "claim c1: ") {
				t.Errorf("events %q, want one", got)
			}
			d := last[message.RackDoc](b, agent, "rack/0")
			if b.configs() != 0 || d.Servers[0].Boot != nil {
				t.Errorf("%d configurations, and the agent is told %+v", b.configs(), d.Servers[0].Boot)
			}
			c.spoil(images, false)
			b.now = b.now.Add(time.Minute + time.Second)
			b.pass()
			if got := codes(b.claim("c1").Status.Conditions); b.configs() != 1 || strings.Contains(got, string(c.want)) {
				t.Errorf("after the correction: %d configurations, conditions %s", b.configs(), got)
			}
		})
	}
}

// A tag is resolved once: later passes, a restart and a moved tag change nothing,
// and another image on a live claim is only said.
func TestClaimIsResolvedOnce(t *testing.T) {
	b, agent := joined(t)
	b.apply(storetest.Claim("c1", "n1"))
	b.pass()
	cfg, err := store.Get[*resource.BootConfiguration](b.store.Objects, "c1")
	if err != nil {
		t.Fatal(err)
	}
	var g message.Grant
	if err := wire.Open(wire.NewVerifier(b.hub.Public()), wire.FactGrant, cfg.Spec.Grant, &g); err != nil {
		t.Fatal(err)
	}
	n1, _ := store.Get[*resource.Server](b.store.Objects, "n1")
	if g.OwnerUID != cfg.Spec.Owner.UID || g.ServerUID != n1.Metadata.UID || g.ImageDigest != cfg.Spec.Image.Digest || g.Generation != 1 || g.MaxAttempts != 3 || g.FirstBoot != resource.FirstBootUefiHTTP {
		t.Errorf("the grant is %+v", g)
	}
	b.acks(agent)
	b.pass()
	if n := b.control.boots.images.Remembered(); n != 0 {
		t.Errorf("%d images are remembered beside the configuration that has them", n)
	}
	b.restart()
	b.greets(agent)
	other := storetest.Claim("c1", "n1")
	other.Spec.Image = "registry.example/os:2"
	b.apply(other)
	b.sent = nil
	b.pass()
	again, _ := store.Get[*resource.BootConfiguration](b.store.Objects, "c1")
	if again.Metadata.Revision != cfg.Metadata.Revision {
		t.Error("the configuration was written again")
	}
	if got := codes(b.claim("c1").Status.Conditions); !strings.HasPrefix(got, "ReprovisionRequired") {
		t.Errorf("conditions %s", got)
	}
	if got := b.took(agent); got != nil {
		t.Errorf("the agent was told: %v", got)
	}
}

// TestClaimEnds: a claim goes only after its agent proved Off for this very claim,
// its configuration first, also if the hub dies between the two.
func TestClaimEnds(t *testing.T) {
	b, agent := joined(t)
	b.apply(storetest.Claim("c1", "n1"))
	b.pass()
	uid := b.claim("c1").Metadata.UID
	if _, err := b.store.Delete(ctx(t), resource.KindClaim, "c1"); err != nil {
		t.Fatal(err)
	}
	b.pass()
	if d := last[message.RackDoc](b, agent, "rack/0"); !d.Servers[0].Releasing || d.Servers[0].Power != resource.WantOff || d.Servers[0].Boot != nil {
		t.Errorf("the agent is told %+v", d.Servers[0])
	}
	for _, c := range []struct {
		name     string
		released bool
		uid      string
	}{{"Off, not proved", false, uid}, {"proved for an earlier claim", true, "earlier"}} {
		r := off("n1")
		r.Released, r.OwnerUID = c.released, c.uid
		b.reports(agent, r)
		b.pass()
		if b.claim("c1").Status.Phase != resource.PhaseReleasing || b.configs() != 1 {
			t.Errorf("%s: ended", c.name)
		}
	}
	r := off("n1")
	r.Released, r.OwnerUID = true, uid
	b.reports(agent, r)
	b.dies("hub.claim.unconfigured", func() { _ = b.control.reconcile(ctx(t)) })
	if _, err := store.Get[*resource.Claim](b.store.Objects, "c1"); err != nil || b.configs() != 0 {
		t.Errorf("after the crash: %d configurations, claim %v", b.configs(), err)
	}
	b.pass() // no report yet: nothing ends, and no new configuration is made
	if _, err := store.Get[*resource.Claim](b.store.Objects, "c1"); err != nil || b.configs() != 0 {
		t.Errorf("before the report: %d configurations, claim %v", b.configs(), err)
	}
	b.reports(agent, r)
	b.pass()
	if _, err := store.Get[*resource.Claim](b.store.Objects, "c1"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("the claim did not end: %v", err)
	}
}

// What cannot be done for one claim keeps no hold waiting.
func TestOneBadClaimStopsNoHold(t *testing.T) {
	b, agent := joined(t)
	b.apply(storetest.Claim("c1", "n1"))
	b.mem.BeforeWrite = func(key string) error {
		if strings.HasPrefix(key, "res.claims.") {
			return protocol.Errorf(protocol.CodeUnavailable, "write", "the disk has a bad sector")
		}
		return nil
	}
	if _, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n2")); err != nil {
		t.Fatal(err)
	}
	if err := b.control.reconcile(ctx(t)); err == nil {
		t.Error("the claim's trouble is not said")
	}
	if d := last[message.HoldDoc](b, agent, message.LeafHold); len(d.Holds) != 1 {
		t.Errorf("the hold waits: %+v", d)
	}
}

// A release leaves the hub when the agent acknowledged it, and not before.
func TestReleaseStaysUntilAcknowledged(t *testing.T) {
	b, agent := joined(t)
	b.acks(agent)
	h, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1"))
	if err != nil {
		t.Fatal(err)
	}
	had := map[string]protocol.Head{}
	for leaf, s := range b.ledger(agent).Sent {
		had[leaf] = s.Head
	}
	b.pass()
	b.says(agent, message.LeafApplied, message.Applied{Doc: "hold", Released: []string{h.Metadata.Name}})
	b.lane()
	if _, err := store.Get[*resource.Hold](b.store.Objects, h.Metadata.Name); err != nil {
		t.Fatal("a hold that nobody released was removed")
	}
	if _, err := b.store.Holds.Release(ctx(t), h.Metadata.Name, "o", ""); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		b.restart()
		b.hello(agent, "s", had)
		b.reports(agent, off("n1"), off("n2"))
		b.pass()
		if d := last[message.HoldDoc](b, agent, message.LeafHold); len(d.Holds) != 0 || len(d.Releases) != 1 || d.Releases[0].HoldID != h.Metadata.Name {
			t.Errorf("the document says %+v", d)
		}
	}
	b.dies("hub.hold.removed", func() {
		b.says(agent, message.LeafApplied, message.Applied{Doc: "hold", Released: []string{h.Metadata.Name}})
		b.lane()
	})
	b.greets(agent)
	b.pass()
	if d := last[message.HoldDoc](b, agent, message.LeafHold); len(d.Releases) != 0 {
		t.Errorf("after the acknowledgement: %+v", d)
	}
}

// A hold's document waits for no pass over the fleet, and none that began before the
// hold was placed takes it back.
func TestHoldWaitsForNoPass(t *testing.T) {
	b, agent := joined(t)
	if _, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1")); err != nil {
		t.Fatal(err)
	}
	written, err := b.control.holdDocs(ctx(t))
	if err != nil || len(written) != 1 || written[0] != agent {
		t.Fatalf("new documents for %v, %v", written, err)
	}
	b.control.Link.SendTo(agent, b.now)
	if d := last[message.HoldDoc](b, agent, message.LeafHold); len(d.Holds) != 1 {
		t.Errorf("the document says %+v", d)
	}
	if written, err = b.control.holdDocs(ctx(t)); err != nil || len(written) != 0 {
		t.Errorf("nothing has changed, and there are new documents for %v, %v", written, err)
	}
	b.apply(storetest.Claim("c1", "n2")) // n1 is held
	late := false
	b.mem.BeforeWrite = func(string) error { // a pass is at its first write
		if !late {
			late = true
			_, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n2"))
			return err
		}
		return nil
	}
	b.pass()
	if d := last[message.HoldDoc](b, agent, message.LeafHold); !late || len(d.Holds) != 2 {
		t.Errorf("the document of a pass that began earlier says %+v", d)
	}
}
