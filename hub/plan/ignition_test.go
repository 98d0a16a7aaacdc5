package plan

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestIgnitionFitsTable(t *testing.T) {
	fixed := &resource.IgnitionRef{Secret: "s", UID: "u", Version: 1, Digest: "d"}
	doctable.Of(t, "ignition.go", "ignitionFits").Hold(t,
		[][]string{{"none", "one"}, {"none", "one", "another", "the same"}, {"the same", "another", "gone"}},
		func(in []string) []string {
			var cfg, have *resource.IgnitionRef
			if in[0] == "one" {
				cfg = fixed
			}
			named := map[string]*resource.Ref{"one": {Name: "x"}, "another": {Name: "x"}, "the same": {Name: "s"}}[in[1]]
			switch in[2] {
			case "the same":
				have = fixed
			case "another":
				have = &resource.IgnitionRef{Secret: "s", UID: "u", Version: 2, Digest: "e"}
			}
			return []string{map[bool]string{true: "yes", false: "no"}[ignitionFits(cfg, named, have)]}
		})
}

// Only what was sealed for the very version travels; else the agent knows that there is
// some.
func TestIgnitionTravels(t *testing.T) {
	fixed := &resource.IgnitionRef{Secret: "s", UID: "u", Version: 2, Digest: "d"}
	cfg := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Ignition: fixed}}
	cfg.Metadata.Name = "c"
	old, good := *message.IgnitionOf(*fixed), *message.IgnitionOf(*fixed)
	old.Version, old.Sealed, good.Sealed = 1, "sha256:old", "sha256:good"
	for _, row := range []struct {
		name   string
		sealed map[string]message.IgnitionIntent
		want   string
	}{
		{"nothing", nil, ""},
		{"another version", map[string]message.IgnitionIntent{"c": old}, ""},
		{"another claim's", map[string]message.IgnitionIntent{"d": good}, ""},
		{"this one", map[string]message.IgnitionIntent{"c": good}, "sha256:good"},
	} {
		if got := ignitionIntent(Fleet{Made: Made{Ignitions: row.sealed}}, cfg); got == nil || got.Sealed != row.want || got.Ref() != *fixed {
			t.Errorf("%s: %+v", row.name, got)
		}
	}
	cfg.Spec.Ignition = nil
	if got := ignitionIntent(Fleet{}, cfg); got != nil {
		t.Errorf("without any: %+v", got)
	}
}
