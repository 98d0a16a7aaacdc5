package control

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func skewed(mode resource.OptIn, limit string) *resource.ManagedBootImages {
	m := optIn(mode)
	m.Spec.Skew = resource.SkewSpec{Mode: resource.SkewAutomatic, Limits: map[string]string{"stable": limit}}
	return m
}

// Row 20: what servers were seen to boot is judged, in groups that are skipped or opted
// out too; a metric for each group; and what blocks an upgrade is said.
func TestGroupSkew(t *testing.T) {
	b, _, agent := groupSite(t, skewed(resource.OptInAll, "1.0"), entryOf("1.0"), workers())
	b.apply(fromWorkers("c1", "n1"))
	b.pass()
	b.proves(agent, "c1")
	b.soaks()
	b.wantConds("new enough")
	metrics := func(want string) {
		t.Helper()
		if err := testutil.GatherAndCompare(b.reg, strings.NewReader(want), "rackboot_hub_group_boot_image_skew", "rackboot_hub_groups_skipped"); err != nil {
			t.Error(err)
		}
	}
	text := func(skew, optedOut string) string {
		return `# HELP rackboot_hub_group_boot_image_skew 1 if a server group has a boot image in use that is older than allowed, or whose version cannot be compared.
# TYPE rackboot_hub_group_boot_image_skew gauge
rackboot_hub_group_boot_image_skew{group="workers"} ` + skew + `
# HELP rackboot_hub_groups_skipped Server groups whose boot image is not managed, by reason.
# TYPE rackboot_hub_groups_skipped gauge
rackboot_hub_groups_skipped{reason="architecture"} 0
rackboot_hub_groups_skipped{reason="custom-image"} 0
rackboot_hub_groups_skipped{reason="feature-off"} 0
rackboot_hub_groups_skipped{reason="not-selected"} 0
rackboot_hub_groups_skipped{reason="opted-out"} ` + optedOut + `
rackboot_hub_groups_skipped{reason="owner"} 0
`
	}
	metrics(text("0", "0"))
	// The group has a newer revision; the server still boots the old one, which counts.
	b.apply(entryOf("2.0"), skewed(resource.OptInAll, "2.0"))
	b.pass()
	if g := b.group(); !strings.Contains(g.Status.Skew, "server n1: version 1.0") {
		t.Errorf("%+v", g.Status)
	}
	b.apply(skewed(resource.OptInNone, "2.0"))
	b.pass()
	metrics(text("1", "1"))
	found := ""
	for _, f := range b.control.Status.Doctor().Findings {
		if f.Blocks {
			found += string(f.Code) + " " + f.Target + "\n"
		}
	}
	if found != "BootImageSkew ServerGroup/workers\n" {
		t.Errorf("doctor: %q", found)
	}
}

// What somebody wants of a group is checked, and does nothing twice.
func TestGroupWords(t *testing.T) {
	b, _, _ := groupSite(t, optIn(resource.OptInAll), entryOf("1.0"), workers())
	for name, c := range map[string]struct {
		action api.GroupAction
		r      api.GroupRequest
		code   protocol.Code
	}{
		"nothing to adopt":   {api.GroupAdopt, api.GroupRequest{}, protocol.CodeConflict},
		"nothing to go back": {api.GroupRevert, api.GroupRequest{}, protocol.CodeConflict},
		"the current one":    {api.GroupRevert, api.GroupRequest{Revision: 1}, protocol.CodeConflict},
		"no such one":        {api.GroupRevert, api.GroupRequest{Revision: 9}, protocol.CodeConflict},
		"a revision to ack":  {api.GroupAck, api.GroupRequest{Revision: 1}, protocol.CodeInvalid},
		"forgive by a pin":   {api.GroupPin, api.GroupRequest{Forgive: true}, protocol.CodeInvalid},
	} {
		if _, err := b.act(c.action, c.r); protocol.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.control.Groups.ActOnGroup(ctx(t), "workers", api.GroupPin, api.GroupRequest{}, "ann"); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("without a reason: %v", err)
	}
	b.acts(api.GroupPin, api.GroupRequest{})
	at := b.group().Metadata.Revision
	b.acts(api.GroupPin, api.GroupRequest{})
	if b.group().Metadata.Revision != at {
		t.Error("the same again is a change")
	}
}
