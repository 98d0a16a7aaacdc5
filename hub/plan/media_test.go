package plan

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestCarriesTable(t *testing.T) {
	doctable.Of(t, "media.go", "carriesRule").HoldOne(t, [][]string{
		doctable.Words(resource.FirstBoots()...), doctable.Words(drivesUnknown, drivesNone, drivesSome),
	}, func(in []string) string {
		if carriesRule(resource.FirstBoot(in[0]), drives(in[1])) {
			return "yes"
		}
		return "no"
	})
}

func TestCarries(t *testing.T) {
	for name, row := range map[string]struct {
		inv  *protocol.Inventory
		want bool
	}{
		"not read":           {nil, true},
		"it does not say":    {&protocol.Inventory{}, true},
		"no drive":           {&protocol.Inventory{Media: &protocol.MediaDrives{}}, false},
		"a drive for sticks": {&protocol.Inventory{Media: &protocol.MediaDrives{Other: 1}}, false},
		"a drive":            {&protocol.Inventory{Media: &protocol.MediaDrives{Boot: 1}}, true},
	} {
		if got := Carries(resource.FirstBootVirtualMedia, row.inv); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
