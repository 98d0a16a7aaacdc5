package control

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// evidenceOf is what is shown of a claim, of its server and of its configuration.
func (b *bench) evidenceOf(claim, server string) (out [3]string) {
	b.t.Helper()
	say := func(class resource.EvidenceClass, way resource.SecretsWay) string {
		return string(class) + "/" + string(way)
	}
	cl, s := b.claim(claim), b.server(server)
	out[0], out[1] = say(cl.Status.EvidenceClass, cl.Status.Secrets), say(s.Status.EvidenceClass, s.Status.Secrets)
	if cfg := b.configOf(claim); cfg != nil {
		b.control.Status.Decorate(cfg)
		out[2] = say(cfg.Status.EvidenceClass, cfg.Status.Secrets)
	}
	return out
}

// TestEvidenceShown: claim, server and configuration say the same of the evidence and of the way of
// the user data, from the first attempt on, and after a restart of the hub; metrics count it.
func TestEvidenceShown(t *testing.T) {
	b, agent := joined(t)
	b.apply(storetest.Claim("c1", "n1"), storetest.Claim("c2", "n2"))
	b.pass()
	report := func(claim, server string, attempt resource.SecretsWay, p *resource.Provisioned) resource.ServerReport {
		cfg := b.config(claim)
		r := on(server)
		r.OwnerUID = cfg.Spec.Owner.UID
		r.Attempt = &resource.AttemptReport{ID: "a1", State: resource.AttemptFetched, Number: 1, Secrets: attempt, OwnerUID: cfg.Spec.Owner.UID, Generation: cfg.Metadata.Generation}
		if p != nil {
			p.OwnerUID, p.Generation, p.Server, p.Evidence, p.At = cfg.Spec.Owner.UID, cfg.Metadata.Generation, server, protocol.EvidenceInstalled, b.now
			r.Provisioned = seal(t, key(agent), wire.FactProvisioned, *p)
		}
		return r
	}
	observed := resource.Provisioned{Class: resource.EvidenceObserved, Secrets: resource.SecretsBMC}
	counts := func(step, observed, reported, bmc, segment string) {
		want := `
# HELP rackboot_hub_claims_provisioned Claims whose boot ended well, by how strong the evidence of that is.
# TYPE rackboot_hub_claims_provisioned gauge
rackboot_hub_claims_provisioned{class="observed"} ` + observed + `
rackboot_hub_claims_provisioned{class="reported"} ` + reported + `
# HELP rackboot_hub_claims_secrets Claims with user data, by how it goes to the server in the last boot from the network.
# TYPE rackboot_hub_claims_secrets gauge
rackboot_hub_claims_secrets{way="bmc"} ` + bmc + `
rackboot_hub_claims_secrets{way="segment"} ` + segment + `
`
		if err := testutil.GatherAndCompare(b.reg, strings.NewReader(want), "rackboot_hub_claims_provisioned", "rackboot_hub_claims_secrets"); err != nil {
			t.Errorf("%s: %v", step, err)
		}
	}
	counts("at first", "0", "0", "0", "0")
	for _, step := range []struct {
		name string
		do   func()
		want string // of c1 and of all that is of it
	}{
		{"not booted", func() { b.reports(agent, off("n1")) }, "/"},
		{"the first attempt", func() { b.reports(agent, report("c1", "n1", resource.SecretsBMC, nil)) }, "/bmc"},
		{"its record", func() { b.reports(agent, report("c1", "n1", resource.SecretsBMC, &observed)) }, "observed/bmc"},
		{"a boot from disk", func() { b.reports(agent, report("c1", "n1", "", &observed)) }, "observed/bmc"},
		{"a restart of the hub", func() { b.restart() }, "observed/bmc"},
	} {
		step.do()
		if got := b.evidenceOf("c1", "n1"); got != [3]string{step.want, step.want, step.want} {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
	counts("recorded", "1", "0", "1", "0")
	b.greets(agent)
	b.reports(agent, report("c2", "n2", resource.SecretsSegment, &resource.Provisioned{}))
	if got := b.evidenceOf("c2", "n2"); got != [3]string{"reported/segment", "reported/segment", "reported/segment"} {
		t.Errorf("a record of before there were classes: %q", got)
	}
	counts("both", "1", "1", "1", "1")
	if _, err := b.store.Claims.Delete(ctx(t), "c1", store.HoldRelease{}); err != nil {
		t.Fatal(err)
	}
	b.pass()
	if s := b.server("n1").Status; s.EvidenceClass != "" || s.Secrets != "" {
		t.Errorf("a server that is released shows %q by %q", s.EvidenceClass, s.Secrets)
	}
}
