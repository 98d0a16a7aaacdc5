package control

import (
	"slices"
	"strings"
	"testing"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// booted is a site whose claim c1 has environment debian; the environments other and
// broken are there.
func bootedEnv(t *testing.T) (*bench, *modern) {
	t.Helper()
	b, m, _ := envSite(t)
	b.apply(debianEnv("other", nil), debianEnv("broken", func(s *resource.BootEnvSpec) { s.RequiredParams = []string{"nobody"} }), envClaim("debian"))
	b.settles(m)
	b.settles(m)
	if b.configOf("c1") == nil {
		t.Fatalf("no configuration: %v", b.claim("c1").Status.Conditions)
	}
	return b, m
}

// attempt is what the agent says of a boot for claim c1.
func (b *bench) attempt(m *modern, state resource.AttemptState) {
	b.t.Helper()
	r := resource.ServerReport{Server: "n1", OwnerUID: b.claim("c1").Metadata.UID, Power: protocol.PowerOff, Observation: protocol.Observation{Power: protocol.PowerOff}}
	if state != "" {
		r.Attempt = &resource.AttemptReport{State: state}
	}
	m.reports(r)
}

// Another environment before anything was booted: the next generation, with its own grant.
func TestEnvChanged(t *testing.T) {
	b, m := bootedEnv(t)
	was := b.boot(m)
	b.attempt(m, "")
	b.apply(envClaim("other"))
	b.settles(m)
	b.settles(m)
	cfg, now := b.configOf("c1"), b.boot(m)
	if cfg.Spec.BootEnv != "other" || cfg.Metadata.Generation != 2 || cfg.Installed() {
		t.Errorf("%+v", cfg)
	}
	if now == nil || now.Env.Name != "other" || now.Env.Sealed == "" || now.Generation != 2 || slices.Equal(now.Grant, was.Grant) || now.Image.Digest == was.Image.Digest {
		t.Errorf("%+v", now)
	}
	if got := codes(b.claim("c1").Status.Conditions); strings.Contains(got, string(resource.CondReprovisionRequired)) {
		t.Errorf("the claim has %q", got)
	}
}

// A change that is refused leaves what was in force as it was, to the byte.
func TestEnvChangeRefused(t *testing.T) {
	b, m := bootedEnv(t)
	was := b.boot(m)
	b.attempt(m, "")
	b.apply(envClaim("broken"))
	b.settles(m)
	b.settles(m)
	if now := b.boot(m); now == nil || now.Env.Sealed != was.Env.Sealed || now.Generation != 1 {
		t.Errorf("%+v", now)
	}
	if got := codes(b.claim("c1").Status.Conditions); !strings.Contains(got, string(resource.CondBootEnvInvalid)) || strings.Contains(got, string(resource.CondReprovisionRequired)) {
		t.Errorf("the claim has %q", got)
	}
	b.apply(envClaim("debian"))
	b.settles(m)
	if got := codes(b.claim("c1").Status.Conditions); strings.Contains(got, string(resource.CondBootEnvInvalid)) {
		t.Errorf("taken back, the claim has %q", got)
	}
}

// What boots or is installed is not exchanged: a condition says which of the two it is.
func TestEnvChangeTooLate(t *testing.T) {
	for want, late := range map[resource.ConditionCode]func(b *bench, m *modern){
		resource.CondBootUnderWay: func(b *bench, m *modern) { b.attempt(m, resource.AttemptFetched) },
		resource.CondReprovisionRequired: func(b *bench, m *modern) {
			cfg := b.configOf("c1")
			cfg.Status.Adopted = &resource.Adopted{ImageDigest: cfg.Spec.Image.Digest, By: "op", At: b.now}
			if err := b.store.Objects.Put(ctx(b.t), cfg); err != nil {
				b.t.Fatal(err)
			}
		},
	} {
		b, m := bootedEnv(t)
		late(b, m)
		b.apply(envClaim("other"))
		b.settles(m)
		b.settles(m)
		if cfg := b.configOf("c1"); cfg.Spec.BootEnv != "debian" || cfg.Metadata.Generation != 1 {
			t.Errorf("%s: %+v", want, cfg)
		}
		got := codes(b.claim("c1").Status.Conditions)
		if waits, late := strings.Contains(got, string(resource.CondBootUnderWay)), strings.Contains(got, string(resource.CondReprovisionRequired)); waits == late || !strings.Contains(got, string(want)) {
			t.Errorf("%s: the claim has %q", want, got)
		}
	}
}

// A change during a boot waits for its end: if that boot fails, the next one is of what the
// claim names.
func TestEnvChangeAfterFailure(t *testing.T) {
	b, m := bootedEnv(t)
	b.attempt(m, resource.AttemptConsumed)
	b.apply(envClaim("other"))
	b.settles(m)
	b.settles(m)
	conds := b.claim("c1").Status.Conditions
	if len(conds) != 1 || conds[0].Code != resource.CondBootUnderWay || !strings.Contains(conds[0].Message, "server n1 boots boot environment debian: attempt 0, Consumed") {
		t.Errorf("%+v", conds)
	}
	b.attempt(m, resource.AttemptFailed)
	b.settles(m)
	b.settles(m)
	if cfg, got := b.configOf("c1"), codes(b.claim("c1").Status.Conditions); cfg.Spec.BootEnv != "other" || cfg.Metadata.Generation != 2 || got != "" {
		t.Errorf("%+v, %q", cfg.Spec, got)
	}
}

// What is on the disk needs no files any more: nothing of it travels, and what was sealed
// is gone. So it is with the claim.
func TestEnvDropped(t *testing.T) {
	b, m := bootedEnv(t)
	cfg := b.configOf("c1")
	cfg.Status.Adopted = &resource.Adopted{ImageDigest: cfg.Spec.Image.Digest, By: "op", At: b.now}
	if err := b.store.Objects.Put(ctx(t), cfg); err != nil {
		t.Fatal(err)
	}
	b.settles(m)
	b.settles(m)
	if in := b.boot(m); in == nil || in.Env != nil || b.store.Envs.Peek("c1") != nil {
		t.Errorf("%+v, %+v", in, b.store.Envs.Peek("c1"))
	}
}

// An agent that makes no environments is sent no boot of one.
func TestEnvAgentTooOld(t *testing.T) {
	b, m, _ := envSite(t)
	m.caps = slices.DeleteFunc(m.caps, func(c message.Capability) bool { return c == message.CapBootEnv })
	m.connects()
	b.settles(m)
	b.apply(envClaim("debian"))
	b.settles(m)
	b.settles(m)
	if in := b.boot(m); in != nil {
		t.Errorf("%+v", in)
	}
	if got := codes(b.claim("c1").Status.Conditions); !strings.Contains(got, string(resource.CondAgentTooOld)) {
		t.Errorf("the claim has %q", got)
	}
}

// A hub that dies between sealing and the document goes on with what it sealed.
func TestEnvSealedOnce(t *testing.T) {
	b, m, _ := envSite(t)
	b.apply(envClaim("debian"))
	b.dies("hub.bootenv.sealed", func() {
		for range 4 {
			b.settles(m)
		}
	})
	sealed := b.store.Envs.Peek("c1").Sealed
	m.connects()
	b.settles(m)
	b.settles(m)
	if in := b.boot(m); in == nil || in.Env == nil || in.Env.Sealed != sealed {
		t.Errorf("%+v, want %s", in, sealed)
	}
}

// A maintenance and a discovery boot environments in the same way.
func TestEnvOfOthers(t *testing.T) {
	b, m, _ := envSite(t)
	b.apply(envObject(&resource.Maintenance{Spec: resource.MaintenanceSpec{
		ServerRef: resource.Ref{Name: "n1"}, Reason: "memory", Boot: resource.MaintenanceBoot{BootEnv: &resource.Ref{Name: "debian"}},
	}}, "m1"))
	for range 3 {
		b.settles(m)
	}
	if in := b.boot(m); in == nil || in.Owner.Kind != resource.PurposeMaintenance || in.Env == nil || in.Env.Sealed == "" {
		mt, _ := store.Get[*resource.Maintenance](b.store.Objects, "m1")
		t.Errorf("maintenance: %+v; %+v", in, mt.Status)
	}

	b, m, _ = envSite(t)
	b.apply(debianEnv("sniff", func(s *resource.BootEnvSpec) { s.OnlyUnknown = true }))
	r := storetest.Rack("r1")
	r.Spec.Discovery = &resource.RackDiscovery{BootEnv: &resource.Ref{Name: "sniff"}}
	r.Default()
	b.apply(r)
	for range 3 {
		b.settles(m)
	}
	if in := b.boot(m); in == nil || in.Owner.Kind != resource.PurposeDiscovery || in.Env == nil || in.Env.Name != "sniff" || in.Env.Sealed == "" {
		t.Errorf("discovery: %+v; %+v", in, b.control.Owners.Discovery.Conditions("n1"))
	}
}
