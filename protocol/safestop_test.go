package protocol

import "testing"

func TestSafeStop(t *testing.T) {
	off, on := &SecureBoot{}, &SecureBoot{Enabled: true}
	shell := BootOption{Reference: "Boot0001", Kind: OptionShell}
	disk := BootOption{Reference: "Boot0002", Kind: OptionDisk}
	pxe := BootOption{Reference: "Boot0003", Kind: OptionPXE}
	shellSwitch := func(name, value string) FirmwareSwitch {
		return FirmwareSwitch{FirmwareValue: FirmwareValue{Name: name, Value: value}, Of: OptionShell, On: "Enabled", Off: "Disabled"}
	}
	hpe := []FirmwareSwitch{shellSwitch("UefiShellBootOrder", "Disabled"), shellSwitch("EmbeddedUefiShell", "Enabled")}
	tests := []struct {
		name string
		of   SafeStopFacts
		want SafeStopClass
	}{
		{"first", SafeStopFacts{SecureBoot: off, BootOptions: []BootOption{shell, disk}, BootOrder: []string{"Boot0001", "Boot0002"}}, SafeStopShellFirst},
		{"first, but Secure Boot falls through to the disk", SafeStopFacts{SecureBoot: on, BootOptions: []BootOption{shell, disk}, BootOrder: []string{"Boot0001", "Boot0002"}}, SafeStopNone},
		{"first, Secure Boot is on until the reset", SafeStopFacts{SecureBoot: &SecureBoot{Current: true}, BootOptions: []BootOption{shell}, BootOrder: []string{"Boot0001"}}, SafeStopNone},
		{"first, Secure Boot unknown", SafeStopFacts{BootOptions: []BootOption{shell}, BootOrder: []string{"Boot0001"}}, SafeStopUnknown},
		{"last (Supermicro 821GE)", SafeStopFacts{SecureBoot: off, BootOptions: []BootOption{disk, shell}, BootOrder: []string{"Boot0002", "Boot0001"}}, SafeStopShellAvailable},
		{"not in the order", SafeStopFacts{SecureBoot: off, BootOptions: []BootOption{disk, shell}, BootOrder: []string{"Boot0002"}}, SafeStopShellAvailable},
		{"disabled", SafeStopFacts{SecureBoot: off, BootOptions: []BootOption{{Reference: "Boot0001", Kind: OptionShell, Disabled: true}, disk}, BootOrder: []string{"Boot0001"}}, SafeStopNone},
		{"by BIOS attribute (HPE)", SafeStopFacts{SecureBoot: off, BootOptions: []BootOption{disk}, Shell: hpe}, SafeStopShellByBIOS},
		{"by BIOS attribute, Secure Boot on", SafeStopFacts{SecureBoot: on, BootOptions: []BootOption{disk}, Shell: hpe}, SafeStopNone},
		{"none (Dell, Lenovo, AMI)", SafeStopFacts{SecureBoot: off, BootOptions: []BootOption{disk}}, SafeStopNone},
		{"network first", SafeStopFacts{SecureBoot: off, BootOptions: []BootOption{pxe, shell, disk}, BootOrder: []string{"Boot0003", "Boot0001", "Boot0002"}}, SafeStopNetworkFirst},
		{"network first, under Secure Boot", SafeStopFacts{SecureBoot: on, BootOptions: []BootOption{pxe, disk}, BootOrder: []string{"Boot0003", "Boot0002"}}, SafeStopNetworkFirst},
		{"network first, Secure Boot unknown", SafeStopFacts{BootOptions: []BootOption{pxe, disk}, BootOrder: []string{"Boot0003", "Boot0002"}}, SafeStopNetworkFirst},
		{"network second", SafeStopFacts{SecureBoot: off, BootOptions: []BootOption{disk, pxe}, BootOrder: []string{"Boot0002", "Boot0003"}}, SafeStopNone},
		{"shell first but for a disabled disk", SafeStopFacts{SecureBoot: off, BootOptions: []BootOption{{Reference: "Boot0002", Kind: OptionDisk, Disabled: true}, shell}, BootOrder: []string{"Boot0002", "Boot0001"}}, SafeStopShellFirst},
		{"first is an option that is not shown", SafeStopFacts{SecureBoot: off, BootOptions: []BootOption{shell}, BootOrder: []string{"Boot0009", "Boot0001"}}, SafeStopShellAvailable},
		{"by BIOS attributes that are set", SafeStopFacts{SecureBoot: off, BootOptions: []BootOption{disk}, Shell: []FirmwareSwitch{shellSwitch("UefiShellBootOrder", "Enabled")}}, SafeStopShellByBIOS},
		{"nothing known", SafeStopFacts{}, SafeStopUnknown},
	}
	for _, tt := range tests {
		got := SafeStopOf(tt.of)
		if got.Class != tt.want || got.Reason == "" || got.Remedy == "" && got.Class != SafeStopShellFirst {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}
