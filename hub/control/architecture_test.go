package control

import (
	"context"
	"strings"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// twoArchitectures is a registry whose image is for one architecture, or with an empty only for several.
type twoArchitectures struct {
	movingTag
	only string
}

func (r *twoArchitectures) Resolve(ctx context.Context, ref, arch string) (resource.Image, error) {
	switch {
	case arch != "":
		return r.movingTag.Resolve(ctx, ref, arch)
	case r.only != "":
		return r.movingTag.Resolve(ctx, ref, r.only)
	}
	return resource.Image{}, protocol.Errorf(protocol.CodeConflict, "resolve", "the image is for amd64 and arm64").WithHint("set spec.architecture of the Server")
}

// unknownServer is n1, of whose architecture nobody knows.
func unknownServer() *resource.Server {
	s := storetest.Server("n1", "b1", "boot", "52:54:00:00:00:01")
	s.Spec.Architecture = ""
	return s
}

// A claim of a server whose architecture is not known takes an image that is for one, and waits with
// one that is for several, until somebody says which it is; nothing is granted before.
func TestArchitectureUnknown(t *testing.T) {
	for _, row := range []struct {
		name, only string
		says       func(b *bench, agent string)
		want       string // that the agent is told
	}{
		{"an image for one", "arm64", func(*bench, string) {}, "arm64"},
		{"the Server says it", "", func(b *bench, _ string) {
			s := unknownServer()
			s.Spec.Architecture = "arm64"
			b.apply(s)
		}, "arm64"},
		{"its firmware says it", "", func(b *bench, agent string) {
			b.reports(agent, resource.ServerReport{Server: "n1", Power: protocol.PowerOff, Architecture: "arm64"})
		}, "arm64"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t, &twoArchitectures{only: row.only})
			b.apply(storetest.Site()...)
			b.apply(unknownServer())
			agent := b.join("r1")
			b.greets(agent)
			b.pass()
			b.acks(agent)
			if got := last[message.RackDoc](b, agent, "rack/0").Servers[0].Architecture; got != "" {
				t.Fatalf("the agent is told %q of a server that nobody boots", got)
			}
			b.apply(storetest.Claim("c1", "n1"))
			b.pass()
			if row.only == "" {
				for _, c := range b.claim("c1").Status.Conditions {
					if c.Code == resource.CondArchitectureUnknown && !strings.Contains(c.Message, "spec.architecture") {
						t.Errorf("it says %q", c.Message)
					}
				}
				if got := codes(b.claim("c1").Status.Conditions); !strings.Contains(got, "ArchitectureUnknown") || b.configs() != 0 {
					t.Fatalf("%d configurations, conditions %s", b.configs(), got)
				}
			}
			row.says(b, agent)
			b.now = b.now.Add(time.Minute + time.Second)
			b.pass()
			s := last[message.RackDoc](b, agent, "rack/0").Servers[0]
			if got := codes(b.claim("c1").Status.Conditions); b.configs() != 1 || strings.Contains(got, "ArchitectureUnknown") || s.Architecture != row.want || s.Boot == nil || s.Boot.Image.Architecture != row.want {
				t.Errorf("%d configurations, conditions %s, the agent is told %q", b.configs(), got, s.Architecture)
			}
		})
	}
}

// What the BMC says counts where the Server says nothing, and is kept.
func TestArchitectureByBMC(t *testing.T) {
	b, m := bmcSite(t, nil)
	b.apply(unknownServer())
	read := func(arch string) *resource.Server {
		t.Helper()
		inv := host("52:54:00:00:00:01")
		inv.Architecture = arch
		b.now = b.now.Add(25 * time.Hour)
		m.connects()
		m.tick()
		for _, q := range m.takeAsks() {
			m.answers(q, inv)
		}
		b.pass()
		return b.server("n1")
	}
	for _, step := range []struct{ says, want string }{{"", ""}, {"aarch64", "arm64"}, {"", "arm64"}, {"x86_64", "amd64"}} {
		if got := read(step.says); got.Architecture() != step.want || got.Spec.Architecture != "" {
			t.Errorf("the BMC says %q: %q, spec %q", step.says, got.Architecture(), got.Spec.Architecture)
		}
	}
	m.listens()
	if got := b.rack(m).Servers[0].Architecture; got != "amd64" {
		t.Errorf("the agent is told %q", got)
	}
	s := unknownServer()
	s.Spec.Architecture = "arm64"
	b.apply(s)
	if got := b.server("n1"); got.Architecture() != "arm64" {
		t.Errorf("against the spec: %q", got.Architecture())
	}
}

// What firmware says by DHCP counts last, is kept when the agent has not heard it any more, changes
// nothing under a claim, and is named where it contradicts.
func TestArchitectureByFirmware(t *testing.T) {
	b := newBench(t, &twoArchitectures{})
	b.apply(storetest.Site()...)
	b.apply(unknownServer())
	agent := b.join("r1")
	b.greets(agent)
	b.pass()
	b.acks(agent)
	step := func(when, says, want string, contradicted bool) {
		t.Helper()
		b.reports(agent, resource.ServerReport{Server: "n1", Power: protocol.PowerOff, Observation: protocol.Observation{Power: protocol.PowerOff}, Architecture: says})
		b.now = b.now.Add(time.Minute + time.Second)
		b.pass()
		s := b.shown("n1")
		if got := s.Architecture(); got != want {
			t.Fatalf("%s: it is %q, want %q", when, got, want)
		}
		if got := strings.Contains(codes(s.Status.Conditions), "ArchitectureContradicted"); got != contradicted {
			t.Fatalf("%s: conditions %s", when, codes(s.Status.Conditions))
		}
		if got := last[message.RackDoc](b, agent, "rack/0").Servers[0].Architecture; got != want {
			t.Fatalf("%s: the agent is told %q, want %q", when, got, want)
		}
	}
	step("before it said anything", "", "", false)
	step("its firmware", "arm64", "arm64", false)
	step("an agent that has started again", "", "arm64", false)
	step("another board, or a neighbour, while nobody boots it", "amd64", "amd64", false)
	step("the real one again", "arm64", "arm64", false)
	b.apply(storetest.Claim("c1", "n1"))
	b.pass()
	if b.configs() != 1 {
		t.Fatalf("%d configurations, conditions %s", b.configs(), codes(b.claim("c1").Status.Conditions))
	}
	step("a neighbour while it is booted", "amd64", "arm64", true)
	for _, cfg := range store.List[*resource.BootConfiguration](b.store.Objects) {
		if cfg.Spec.Image.Architecture != "arm64" {
			t.Errorf("the configuration is for %s", cfg.Spec.Image.Architecture)
		}
	}
	step("the real one", "arm64", "arm64", false)
	s := unknownServer()
	s.Spec.Architecture = "arm64"
	b.apply(s)
	step("against the spec", "amd64", "arm64", true)
	b.restart()
	if got := b.server("n1").Status.HeardArchitecture; got != "arm64" {
		t.Errorf("after a restart %q was heard", got)
	}
}
