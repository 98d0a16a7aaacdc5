package kinds

import (
	"slices"
	"testing"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

// What describe says of a maintenance: its place in the queue while it has one.
func TestMaintenanceFacts(t *testing.T) {
	m := &resource.Maintenance{Spec: resource.MaintenanceSpec{ServerRef: resource.Ref{Name: "n1"}, Reason: "BIOS 2.1"}}
	m.Metadata.Name = "m1"
	m.Default()
	for position, want := range map[int]bool{0: false, 3: true} {
		m.Status.Position = position
		_, got, _ := Describe(resource.KindMaintenance, m, time.Now())
		if is := slices.Contains(got, printer.Fact{"Position", "3"}); is != want {
			t.Errorf("position %d: %+v", position, got)
		}
		if slices.ContainsFunc(got, func(f printer.Fact) bool { return f[0] == "Position" }) != want {
			t.Errorf("position %d: %+v", position, got)
		}
	}
}

// What describe says of a claim's boot: what was resolved, and what was proved, of its own configuration
// only.
func TestClaimBoot(t *testing.T) {
	claim := &resource.Claim{}
	claim.Metadata.Name, claim.Metadata.UID = "c1", "u1"
	at := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	cfg := func(owner string, change func(*resource.BootConfiguration)) *resource.BootConfiguration {
		b := &resource.BootConfiguration{}
		b.Metadata.Generation = 2
		b.Spec.Owner.UID = owner
		b.Spec.Image = resource.Image{Reference: "registry.example/os:1", Digest: "sha256:aa"}
		change(b)
		return b
	}
	nothing := func(*resource.BootConfiguration) {}
	for name, row := range map[string]struct {
		cfg  *resource.BootConfiguration
		want []printer.Fact
		lack string
	}{
		"none":            {nil, []printer.Fact{{"Image resolved", "not yet"}}, "Provisioned"},
		"another claim's": {cfg("u0", nothing), []printer.Fact{{"Image resolved", "not yet"}}, "Image digest"},
		"not booted":      {cfg("u1", nothing), []printer.Fact{{"Image digest", "sha256:aa"}, {"Provisioned", "not yet"}, {"Boot generation", "2"}}, "Group revision"},
		"booted": {cfg("u1", func(b *resource.BootConfiguration) {
			b.Spec.Group, b.Spec.Revision = "g", 3
			b.Status.Provisioned = &resource.Provisioned{At: at, Evidence: "installed", ImageDigest: "sha256:aa"}
		}), []printer.Fact{{"Provisioned", "2026-11-26T09:00:00Z"}, {"Digest booted", "sha256:aa"}, {"Group revision", resource.GroupRevisionName("g", 3)}}, ""},
		"by a word": {
			cfg("u1", func(b *resource.BootConfiguration) {
				b.Status.Adopted = &resource.Adopted{By: "ann"}
			}),
			[]printer.Fact{{"Provisioned", "by the word of ann"}},
			"Digest booted",
		},
	} {
		got := ClaimBoot(claim, row.cfg)
		for _, f := range row.want {
			if !slices.Contains(got, f) {
				t.Errorf("%s: %v lacks %v", name, got, f)
			}
		}
		if slices.ContainsFunc(got, func(f printer.Fact) bool { return f[0] == row.lack }) {
			t.Errorf("%s: %v has %s", name, got, row.lack)
		}
	}
}
