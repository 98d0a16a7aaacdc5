package resource

import (
	"slices"
	"strings"
	"testing"
)

func TestMaintenanceValidate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*MaintenanceSpec)
		want   string // the path and a part of what is said; empty is right
	}{
		"whole":          {func(*MaintenanceSpec) {}, ""},
		"kept off":       {func(s *MaintenanceSpec) { s.ServerPower, s.Boot = WantOff, MaintenanceBoot{} }, ""},
		"no server":      {func(s *MaintenanceSpec) { s.ServerRef.Name = "" }, "spec.serverRef.name"},
		"no image":       {func(s *MaintenanceSpec) { s.Boot.Image = "" }, "spec.boot: give exactly one of image, imageFrom and bootEnv"},
		"image of words": {func(s *MaintenanceSpec) { s.Boot.Image = "a b" }, "spec.boot.image: \"a b\" is not an OCI reference"},
		"environment":    {func(s *MaintenanceSpec) { s.Boot.Image, s.Boot.BootEnv = "", &Ref{"memtest"} }, ""},
		"both":           {func(s *MaintenanceSpec) { s.Boot.BootEnv = &Ref{"memtest"} }, "spec.boot: give exactly one of image, imageFrom and bootEnv"},
		"environment, CD": {func(s *MaintenanceSpec) {
			s.Boot.Image, s.Boot.BootEnv, s.Boot.BootPolicy.FirstBoot = "", &Ref{"memtest"}, FirstBootVirtualMedia
		}, "spec.boot.bootPolicy.firstBoot"},
		"no reason":             {func(s *MaintenanceSpec) { s.Reason = " " }, "spec.reason"},
		"another policy":        {func(s *MaintenanceSpec) { s.Policy = "Forced" }, "spec.policy"},
		"priority":              {func(s *MaintenanceSpec) { s.Priority = 1001 }, "spec.priority: 1001 is not between"},
		"method":                {func(s *MaintenanceSpec) { s.Boot.BootPolicy.FirstBoot = "Floppy" }, "spec.boot.bootPolicy.firstBoot"},
		"disk for OS":           {func(s *MaintenanceSpec) { s.Boot.BootPolicy.OSReboot = OSRebootRearm }, "a maintenance never boots from it"},
		"user data":             {func(s *MaintenanceSpec) { s.Boot.IgnitionSecretRef = &Ref{"node"} }, ""},
		"user data, wrong":      {func(s *MaintenanceSpec) { s.Boot.IgnitionSecretRef = &Ref{"No De"} }, "spec.boot.ignitionSecretRef"},
		"settings":              {settingsSpec(FirmwareWanted{Setting: "http", Where: "Http", Value: "On"}), ""},
		"settings, empty":       {settingsSpec(FirmwareWanted{Setting: "http", Where: "Http"}), ""},
		"settings, order":       {settingsSpec(FirmwareWanted{Setting: "bootOrder", Where: "Boot.BootOrder", Value: "B1, B2", Order: []string{"B1", "B2"}}), ""},
		"settings, no order":    {settingsSpec(FirmwareWanted{Setting: "bootOrder", Where: "Boot.BootOrder", Value: "B1, B2"}), "spec.firmware[0].order"},
		"settings, an order":    {settingsSpec(FirmwareWanted{Setting: "http", Where: "Http", Order: []string{"B1"}}), "spec.firmware[0].order"},
		"settings, twice":       {settingsSpec(FirmwareWanted{Setting: "a", Where: "Http"}, FirmwareWanted{Setting: "b", Where: "Http"}), "spec.firmware[1].where: Http is given twice"},
		"settings, nowhere":     {settingsSpec(FirmwareWanted{Setting: "a"}), "spec.firmware[0].where"},
		"settings, nameless":    {settingsSpec(FirmwareWanted{Where: "Http"}), "spec.firmware[0].setting"},
		"settings, lines":       {settingsSpec(FirmwareWanted{Setting: "a", Where: "Http", Value: "a\nb"}), "spec.firmware[0].value"},
		"settings, hidden":      {settingsSpec(FirmwareWanted{Setting: "a", Where: "Http", Hidden: true}), "spec.firmware[0]: its value was not shown"},
		"settings, Secure":      {settingsSpec(FirmwareWanted{Setting: "secureBoot", Where: "SecureBootEnable", Value: "true"}), "spec.firmware[0].value"},
		"settings, large":       {settingsSpec(slices.Repeat([]FirmwareWanted{{Setting: "a", Where: "Http", Value: strings.Repeat("v", 250)}}, 7)...), "spec.firmware: has 7 settings"},
		"settings and an image": {func(s *MaintenanceSpec) { s.Firmware = []FirmwareWanted{{Setting: "http", Where: "Http"}} }, "spec.firmware: goes with serverPower On"},
		"arguments, lines":      {func(s *MaintenanceSpec) { s.Boot.KernelArgs = "a\nb" }, "spec.boot.kernelArgs"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &Maintenance{Spec: MaintenanceSpec{ServerRef: Ref{"n1"}, Reason: "BIOS", Boot: MaintenanceBoot{Image: "r.example/fw:1"}}}
			m.Metadata.Name = "m1"
			c.change(&m.Spec)
			m.Default()
			got := m.Validate()
			if (c.want == "") != (len(got) == 0) || !strings.Contains(got.Error(), c.want) {
				t.Errorf("%v; want %q", got, c.want)
			}
		})
	}
	var m Maintenance
	if m.Default(); m.Spec.Policy != MaintenanceOwnerApproval || m.Spec.ServerPower != WantOn {
		t.Errorf("defaults %+v", m.Spec)
	}
}

func settingsSpec(set ...FirmwareWanted) func(*MaintenanceSpec) {
	return func(s *MaintenanceSpec) { s.Boot, s.Firmware = MaintenanceBoot{}, set }
}
