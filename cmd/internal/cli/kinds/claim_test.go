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
		_, got, _ := Describe(resource.KindMaintenance, m, time.Now(), nil)
		if is := slices.Contains(got, printer.Fact{"Position", "3"}); is != want {
			t.Errorf("position %d: %+v", position, got)
		}
		if slices.ContainsFunc(got, func(f printer.Fact) bool { return f[0] == "Position" }) != want {
			t.Errorf("position %d: %+v", position, got)
		}
	}
}

// What describe says of a claim's boot: what was resolved, and what was proved.
func TestClaimBoot(t *testing.T) {
	at := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	boot := func(change func(*resource.ClaimBoot)) *resource.ClaimBoot {
		b := &resource.ClaimBoot{Reference: "registry.example/os:1", Digest: "sha256:aa", Generation: 2}
		change(b)
		return b
	}
	for name, row := range map[string]struct {
		boot *resource.ClaimBoot
		want []printer.Fact
	}{
		"none":       {nil, []printer.Fact{{"Image resolved", "not yet"}}},
		"not booted": {boot(func(*resource.ClaimBoot) {}), []printer.Fact{{"Image resolved", "registry.example/os:1"}, {"Provisioned at", "not yet"}, {"Boot generation", "2"}}},
		"booted": {boot(func(b *resource.ClaimBoot) {
			b.ProvisionedAt, b.Evidence, b.Booted = &at, "installed", "sha256:aa"
		}), []printer.Fact{{"Provisioned at", "2026-11-26T09:00:00Z"}, {"Provisioned by", "the report installed"}}},
		"by a word": {boot(func(b *resource.ClaimBoot) { b.ProvisionedAt, b.AdoptedBy = &at, "ann" }), []printer.Fact{{"Provisioned by", "the word of ann"}}},
	} {
		c := &resource.Claim{Status: resource.ClaimStatus{Boot: row.boot}}
		_, got, _ := Describe(resource.KindClaim, c, at, nil)
		for _, f := range row.want {
			if !slices.Contains(got, f) {
				t.Errorf("%s: %v lacks %v", name, got, f)
			}
		}
	}
}

func TestAwaited(t *testing.T) {
	now := time.Date(2026, 11, 26, 9, 5, 0, 0, time.UTC)
	since, until := now.Add(-3*time.Minute), now.Add(2*time.Minute)
	for _, row := range []struct {
		wait *resource.Wait
		want string
	}{
		{nil, ""},
		{&resource.Wait{For: resource.WaitDHCP, Since: since, Until: &until}, "DHCP: firmware has not asked for an address yet, for 3m of 5m"},
		{&resource.Wait{For: resource.WaitOff, Since: since}, "the BMC to show Off after ForceOff, for 3m"},
		{&resource.Wait{For: resource.WaitReport, Since: since, Until: &until, Report: "discovered"}, "the report of the image (discovered), for 3m of 5m"},
		{&resource.Wait{For: "what a newer agent waits for", Since: since}, "what a newer agent waits for, for 3m"},
	} {
		if got := Awaited(row.wait, now); got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
}
