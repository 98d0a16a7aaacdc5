package redfish

import (
	"testing"

	"rackboot/bmc"
)

func TestSafeStop(t *testing.T) {
	off, on := &bmc.SecureBoot{}, &bmc.SecureBoot{Enabled: true}
	shell := bmc.BootOption{Reference: "Boot0001", Kind: bmc.BootShell}
	disk := bmc.BootOption{Reference: "Boot0002", Kind: bmc.BootDisk}
	hpe := attributes{"UefiShellBootOrder": "Disabled", "EmbeddedUefiShell": "Enabled"}
	tests := []struct {
		name string
		inv  bmc.Inventory
		bios attributes
		want bmc.SafeStopClass
	}{
		{"first", bmc.Inventory{SecureBoot: off, BootOptions: []bmc.BootOption{shell, disk}, BootOrder: []string{"Boot0001", "Boot0002"}}, nil, bmc.SafeStopShellFirst},
		{"first, but Secure Boot falls through to the disk", bmc.Inventory{SecureBoot: on, BootOptions: []bmc.BootOption{shell, disk}, BootOrder: []string{"Boot0001", "Boot0002"}}, nil, bmc.SafeStopNone},
		{"first, Secure Boot is on until the reset", bmc.Inventory{SecureBoot: &bmc.SecureBoot{Current: true}, BootOptions: []bmc.BootOption{shell}, BootOrder: []string{"Boot0001"}}, nil, bmc.SafeStopNone},
		{"first, Secure Boot unknown", bmc.Inventory{BootOptions: []bmc.BootOption{shell}, BootOrder: []string{"Boot0001"}}, nil, bmc.SafeStopUnknown},
		{"last (Supermicro 821GE)", bmc.Inventory{SecureBoot: off, BootOptions: []bmc.BootOption{disk, shell}, BootOrder: []string{"Boot0002", "Boot0001"}}, nil, bmc.SafeStopShellAvailable},
		{"not in the order", bmc.Inventory{SecureBoot: off, BootOptions: []bmc.BootOption{disk, shell}, BootOrder: []string{"Boot0002"}}, nil, bmc.SafeStopShellAvailable},
		{"disabled", bmc.Inventory{SecureBoot: off, BootOptions: []bmc.BootOption{{Reference: "Boot0001", Kind: bmc.BootShell, Disabled: true}, disk}, BootOrder: []string{"Boot0001"}}, nil, bmc.SafeStopNone},
		{"by BIOS attribute (HPE)", bmc.Inventory{SecureBoot: off, BootOptions: []bmc.BootOption{disk}}, hpe, bmc.SafeStopShellByBIOS},
		{"by BIOS attribute, Secure Boot on", bmc.Inventory{SecureBoot: on, BootOptions: []bmc.BootOption{disk}}, hpe, bmc.SafeStopNone},
		{"none (Dell, Lenovo, AMI)", bmc.Inventory{SecureBoot: off, BootOptions: []bmc.BootOption{disk}}, nil, bmc.SafeStopNone},
		{"nothing known", bmc.Inventory{}, nil, bmc.SafeStopUnknown},
	}
	for _, tt := range tests {
		got := safeStop(tt.inv, tt.bios)
		if got.Class != tt.want || got.Reason == "" || got.Remedy == "" && got.Class != bmc.SafeStopShellFirst {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

func TestLastResetTimes(t *testing.T) {
	for in, want := range map[string]bool{
		"2024-06-11T00:14:47-05:00": true, "2024-06-11T00:14:47": true, "0000-00-00T00:00:00+00:00": false,
		"1970-01-01T00:00:12+00:00": false, "": false, "N/A": false, "yesterday, at noon": false,
	} {
		if got := plausible(in); got != want {
			t.Errorf("%q is %v", in, got)
		}
	}
}
