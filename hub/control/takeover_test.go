package control

import (
	"strings"
	"testing"
	"time"

	"rackboot/hub/approval"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

const exampleDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func on(server string) resource.ServerReport {
	r := off(server)
	r.Observation.Power, r.Power = protocol.PowerOn, protocol.PowerOn
	return r
}

// takenOver is a site with a claim for n1, which was found On.
func takenOver(t *testing.T) (*bench, *modern) {
	t.Helper()
	b, m := modernSite(t)
	m.reports(on("n1"), off("n2"))
	b.apply(storetest.Claim("c1", "n1"))
	b.dies("hub.adopt.asked", b.pass)
	m.connects()
	m.reports(on("n1"), off("n2"))
	b.pass()
	return b, m
}

func (b *bench) adopt(r api.AdoptRequest) error {
	b.t.Helper()
	if r.Reason == "" {
		r.Reason = "looked at it"
	}
	_, err := b.control.Owners.Claims.AdoptServer(b.t.Context(), "n1", r, "op")
	return err
}

func (b *bench) config(name string) *resource.BootConfiguration {
	b.t.Helper()
	cfg, err := store.Get[*resource.BootConfiguration](b.store.Objects, name)
	if err != nil {
		b.t.Fatal(err)
	}
	return cfg
}

// A server that was On when it was bound is given no grant, also not when it is Off
// later, and after a restart of the hub, until somebody decides.
func TestFoundOn(t *testing.T) {
	b, m := takenOver(t)
	undecided := func(when string) {
		t.Helper()
		if got := codes(b.claim("c1").Status.Conditions); b.configs() != 0 || !strings.HasPrefix(got, "NeedsDecision") {
			t.Errorf("%s: %d configurations, conditions %s", when, b.configs(), got)
		}
	}
	undecided("found On")
	m.reports(off("n1"), off("n2"))
	b.pass()
	undecided("Off later")
	b.restart()
	m.connects()
	m.reports(off("n1"), off("n2"))
	b.pass()
	undecided("after a restart")

	other := storetest.Claim("c1", "n1")
	other.Spec.Image = "registry.example/os:9"
	b.apply(other)
	b.pass()
	undecided("with another image")
}

// Nothing is known of a server that no agent has read: no grant, and no question.
func TestNotReadYet(t *testing.T) {
	b, m := modernSite(t)
	b.unread = true
	b.apply(storetest.Claim("c1", "n1"))
	b.pass()
	if got := codes(b.claim("c1").Status.Conditions); b.configs() != 0 || strings.Contains(got, "NeedsDecision") {
		t.Fatalf("%d configurations, conditions %s", b.configs(), got)
	}
	m.reports(off("n1"), off("n2"))
	b.pass()
	if b.configs() != 1 || len(b.config("c1").Spec.Grant) == 0 {
		t.Error("an ordinary claim got no grant when its server was read Off")
	}
}

// What somebody says is kept by name, reason and time, travels to the agent without a
// grant, and no registry is asked.
func TestAdoptProvisioned(t *testing.T) {
	b, m := takenOver(t)
	word := api.AdoptRequest{Provisioned: "registry.example/os:1@" + exampleDigest}
	b.dies("hub.adopt.kept", func() { _ = b.adopt(word) })
	m.connects()
	b.pass()
	if err := b.adopt(word); err != nil {
		t.Fatalf("the same again: %v", err)
	}
	m.reports(on("n1"), off("n2"))
	b.pass()
	m.listens()
	cfg := b.config("c1")
	if a := cfg.Status.Adopted; a == nil || a.By != "op" || a.Reason != "looked at it" || a.ImageDigest != exampleDigest || a.At.IsZero() || len(cfg.Spec.Grant) != 0 || len(cfg.Status.SignedProvisioned) != 0 {
		t.Errorf("the configuration is %+v", cfg)
	}
	if got := b.evidenceOf("c1", "n1"); got != [3]string{"reported/", "reported/", "reported/"} {
		t.Errorf("somebody's word is shown as %q", got)
	}
	c := b.claim("c1")
	if got := codes(c.Status.Conditions); c.Status.Decision != nil || got != "" {
		t.Errorf("the claim waits for %+v, conditions %s", c.Status.Decision, got)
	}
	var rack message.RackDoc
	b.opens(m, "rack/0", &rack)
	if boot := rack.Servers[0].Boot; boot == nil || boot.Adopted == nil || boot.Grant != nil || boot.Image.Digest != exampleDigest {
		t.Errorf("the agent is told %+v", boot)
	}
	for _, c := range []struct {
		r    api.AdoptRequest
		code protocol.Code
	}{
		{api.AdoptRequest{Provisioned: "r.example/os@" + strings.Replace(exampleDigest, "0123", "4567", 1)}, protocol.CodeConflict},
		{api.AdoptRequest{Reprovision: true}, protocol.CodeConflict},
		{api.AdoptRequest{Provisioned: "registry.example/os:1"}, protocol.CodeInvalid},
		{api.AdoptRequest{}, protocol.CodeInvalid},
		{api.AdoptRequest{Provisioned: word.Provisioned, Reprovision: true}, protocol.CodeInvalid},
	} {
		if err := b.adopt(c.r); protocol.CodeOf(err) != c.code || protocol.HintOf(err) == "" {
			t.Errorf("%+v: %v", c.r, err)
		}
	}
	if _, err := b.control.Owners.Claims.AdoptServer(t.Context(), "n2", api.AdoptRequest{Reprovision: true, Reason: "x"}, "op"); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("a server without a claim: %v", err)
	}
}

// A configuration whose first boot had no end counts as installed by somebody's word, for
// its own image only.
func TestAdoptMarks(t *testing.T) {
	b, _ := joined(t)
	b.apply(storetest.Claim("c1", "n1"))
	b.pass()
	digest := b.config("c1").Spec.Image.Digest
	if err := b.adopt(api.AdoptRequest{Provisioned: "x@" + exampleDigest}); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("another image: %v", err)
	}
	b.dies("hub.adopt.marked", func() { _ = b.adopt(api.AdoptRequest{Provisioned: "x@" + digest}) })
	if cfg := b.config("c1"); cfg.Status.Adopted == nil || !cfg.Installed() {
		t.Errorf("%+v", cfg.Status)
	}
}

// To install over what there is takes somebody's word, and then goes the ordinary way.
func TestAdoptReprovision(t *testing.T) {
	b, m := takenOver(t)
	b.dies("hub.adopt.install", func() { _ = b.adopt(api.AdoptRequest{Reprovision: true}) })
	m.connects()
	m.reports(on("n1"), off("n2"))
	b.pass()
	cfg := b.config("c1")
	var g message.Grant
	if err := wire.Open(wire.NewVerifier(b.hub.Public()), wire.FactGrant, cfg.Spec.Grant, &g); err != nil || cfg.Installed() {
		t.Errorf("%v, %+v", err, cfg.Status)
	}
	if d := b.claim("c1").Status.Decision; d == nil || d.Install == nil || d.Install.By != "op" {
		t.Errorf("nothing is kept of who said so: %+v", d)
	}
	if err := b.adopt(api.AdoptRequest{Reprovision: true, Reason: "again"}); err != nil {
		t.Errorf("the same again: %v", err)
	}
}

// Where the class reprovision needs an approval, the word alone gives no grant; one that
// is denied takes the word back.
func TestReprovisionNeedsApproval(t *testing.T) {
	for _, denied := range []bool{false, true} {
		b, m := modernSite(t)
		b.policy = approval.Policy{resource.ApproveReprovision: 1}
		b.restart()
		m.connects()
		m.reports(on("n1"), off("n2"))
		b.apply(storetest.Claim("c1", "n1"))
		b.pass()
		if err := b.adopt(api.AdoptRequest{Reprovision: true}); err != nil {
			t.Fatal(err)
		}
		if got := b.trail.of("Server/n1"); !strings.Contains(strings.Join(got, " "), "adopt") {
			t.Errorf("the audit log has %v", got)
		}
		b.pass()
		b.pass()
		wishes := b.control.Approvals.List()
		if len(wishes) != 1 || wishes[0].Class != resource.ApproveReprovision || wishes[0].Targets[0] != "n1" || b.configs() != 0 {
			t.Fatalf("%+v, %d configurations", wishes, b.configs())
		}
		if got := b.claim("c1").Status.Conditions; codes(got) != "NeedsDecision" || !strings.Contains(got[0].Message, "rackctl approve list") {
			t.Errorf("conditions %+v", got)
		}
		if denied {
			deny := func() {
				if _, err := b.control.Approvals.Deny(t.Context(), wishes[0].ID, "second", "no", true); err != nil {
					t.Fatal(err)
				}
			}
			b.dies("hub.approval.uninstalled", deny)
			m.connects()
			m.reports(on("n1"), off("n2"))
			deny()
			b.pass()
			b.pass()
			if d := b.claim("c1").Status.Decision; !d.Open() || b.configs() != 0 || len(b.control.Approvals.List()) != 1 {
				t.Errorf("denied: %+v, %d configurations, %+v", d, b.configs(), b.control.Approvals.List())
			}
			continue
		}
		if _, err := b.control.Approvals.Grant(t.Context(), wishes[0].ID, wishes[0].Version, "second", true); err != nil {
			t.Fatal(err)
		}
		b.pass()
		if len(b.config("c1").Spec.Grant) == 0 {
			t.Error("approved, and no grant")
		}
	}
}

// A hub that was restored from a copy without the configuration takes the agent's own
// record before it asks anybody, and gives no grant (facts, boot policy 7 row 7).
func TestLiveRecordDecides(t *testing.T) {
	b, m := modernSite(t)
	b.unread = true
	b.apply(storetest.Claim("c1", "n1"))
	b.pass()
	cl, n1 := b.claim("c1"), b.server("n1")
	r := on("n1")
	r.OwnerUID = cl.Metadata.UID
	record := resource.Provisioned{OwnerUID: cl.Metadata.UID, Generation: 1, Server: "n1", ServerUID: n1.Metadata.UID, ImageDigest: exampleDigest, At: b.now}
	forged := r
	forged.Provisioned = seal(t, key("somebody"), wire.FactProvisioned, record)
	m.reports(forged, off("n2"))
	b.pass()
	if b.configs() != 0 {
		t.Fatal("a forged record counts")
	}
	r.Provisioned = seal(t, key(m.name), wire.FactProvisioned, record)
	b.now = b.now.Add(time.Second)
	m.reports(r, off("n2"))
	b.pass()
	cfg := b.config("c1")
	if len(cfg.Spec.Grant) != 0 || len(cfg.Status.SignedProvisioned) == 0 || cfg.Status.Adopted != nil || cfg.Spec.Image.Digest != exampleDigest {
		t.Errorf("%+v", cfg)
	}
	if got := codes(b.claim("c1").Status.Conditions); strings.Contains(got, "NeedsDecision") || strings.Contains(got, "Reprovision") {
		t.Errorf("conditions %s", got)
	}
}
