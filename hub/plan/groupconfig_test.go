package plan

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestGroupChangeTable(t *testing.T) {
	doctable.Of(t, "groupconfig.go", "groupChangeRule").HoldOne(t, [][]string{
		doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(),
	}, func(in []string) string {
		return string(groupChangeRule(in[0] == "yes", in[1] == "yes", in[2] == "yes", in[3] == "yes"))
	})
}

// Seed 001: what runs is not touched by a newer image; a boot from the network and a first
// boot that has not begun follow.
func TestGroupChange(t *testing.T) {
	config := func(change func(*resource.BootConfiguration)) *resource.BootConfiguration {
		b := envConfig("")
		b.Spec.Group, b.Spec.Revision = "workers", 1
		if change != nil {
			change(b)
		}
		return b
	}
	report := func(state resource.AttemptState, power protocol.PowerState) *resource.ServerReport {
		r := &resource.ServerReport{OwnerUID: "uid-c1", Power: power}
		if state != "" {
			r.Attempt = &resource.AttemptReport{State: state}
		}
		return r
	}
	for name, c := range map[string]struct {
		cfg      *resource.BootConfiguration
		report   *resource.ServerReport
		revision int
		turn     bool
		want     GroupThen
	}{
		"the same":                            {config(nil), nil, 1, true, GroupKeep},
		"none to be had":                      {config(nil), nil, 0, true, GroupKeep},
		"grant not given":                     {config(nil), nil, 2, true, GroupReplace},
		"its wave comes later":                {config(nil), nil, 2, false, GroupKeep},
		"given, nothing heard":                {config(given), nil, 2, true, GroupKeep},
		"booting":                             {config(given), report(resource.AttemptFetched, protocol.PowerOn), 2, true, GroupKeep},
		"failed, and Off":                     {config(given), report(resource.AttemptFailed, protocol.PowerOff), 2, true, GroupReplace},
		"failed, and it runs: perhaps well":   {config(given), report(resource.AttemptFailed, protocol.PowerOn), 2, true, GroupKeep},
		"installed":                           {config(installed), report("", protocol.PowerOff), 2, true, GroupKeep},
		"from the network at each power-on":   {config(network), report(resource.AttemptSucceeded, protocol.PowerOn), 2, true, GroupReplace},
		"from the network, and booting":       {config(func(b *resource.BootConfiguration) { given(b); network(b) }), report(resource.AttemptConsumed, protocol.PowerOn), 2, true, GroupKeep},
		"returns to an older one (a revert)":  {config(nil), nil, 3, true, GroupReplace},
		"an image of its own, and no group's": {envConfig(""), nil, 2, true, GroupKeep},
	} {
		f := Fleet{}
		if c.report != nil {
			f.Reports = map[string]*resource.ServerReport{"n1": c.report}
		}
		if got := GroupChange(f, c.cfg, c.revision, c.turn); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
