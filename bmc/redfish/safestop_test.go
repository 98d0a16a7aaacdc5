package redfish

import (
	"testing"

	"rackboot/protocol"
)

func TestSafeStop(t *testing.T) {
	off, on := &protocol.SecureBoot{}, &protocol.SecureBoot{Enabled: true}
	shell := protocol.BootOption{Reference: "Boot0001", Kind: protocol.OptionShell}
	disk := protocol.BootOption{Reference: "Boot0002", Kind: protocol.OptionDisk}
	hpe := attributes{"UefiShellBootOrder": "Disabled", "EmbeddedUefiShell": "Enabled"}
	tests := []struct {
		name string
		inv  protocol.Inventory
		bios attributes
		want protocol.SafeStopClass
	}{
		{"first", protocol.Inventory{SecureBoot: off, BootOptions: []protocol.BootOption{shell, disk}, BootOrder: []string{"Boot0001", "Boot0002"}}, nil, protocol.SafeStopShellFirst},
		{"first, but Secure Boot falls through to the disk", protocol.Inventory{SecureBoot: on, BootOptions: []protocol.BootOption{shell, disk}, BootOrder: []string{"Boot0001", "Boot0002"}}, nil, protocol.SafeStopNone},
		{"first, Secure Boot is on until the reset", protocol.Inventory{SecureBoot: &protocol.SecureBoot{Current: true}, BootOptions: []protocol.BootOption{shell}, BootOrder: []string{"Boot0001"}}, nil, protocol.SafeStopNone},
		{"first, Secure Boot unknown", protocol.Inventory{BootOptions: []protocol.BootOption{shell}, BootOrder: []string{"Boot0001"}}, nil, protocol.SafeStopUnknown},
		{"last (Supermicro 821GE)", protocol.Inventory{SecureBoot: off, BootOptions: []protocol.BootOption{disk, shell}, BootOrder: []string{"Boot0002", "Boot0001"}}, nil, protocol.SafeStopShellAvailable},
		{"not in the order", protocol.Inventory{SecureBoot: off, BootOptions: []protocol.BootOption{disk, shell}, BootOrder: []string{"Boot0002"}}, nil, protocol.SafeStopShellAvailable},
		{"disabled", protocol.Inventory{SecureBoot: off, BootOptions: []protocol.BootOption{{Reference: "Boot0001", Kind: protocol.OptionShell, Disabled: true}, disk}, BootOrder: []string{"Boot0001"}}, nil, protocol.SafeStopNone},
		{"by BIOS attribute (HPE)", protocol.Inventory{SecureBoot: off, BootOptions: []protocol.BootOption{disk}}, hpe, protocol.SafeStopShellByBIOS},
		{"by BIOS attribute, Secure Boot on", protocol.Inventory{SecureBoot: on, BootOptions: []protocol.BootOption{disk}}, hpe, protocol.SafeStopNone},
		{"none (Dell, Lenovo, AMI)", protocol.Inventory{SecureBoot: off, BootOptions: []protocol.BootOption{disk}}, nil, protocol.SafeStopNone},
		{"nothing known", protocol.Inventory{}, nil, protocol.SafeStopUnknown},
	}
	for _, tt := range tests {
		got := safeStop(tt.inv, tt.bios)
		if got.Class != tt.want || got.Reason == "" || got.Remedy == "" && got.Class != protocol.SafeStopShellFirst {
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
