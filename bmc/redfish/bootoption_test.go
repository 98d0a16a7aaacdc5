package redfish

import (
	"encoding/json"
	"testing"

	"rackboot/bmc"
	"rackboot/protocol"
)

func TestBootOptionKinds(t *testing.T) {
	tests := []struct {
		source, path, name string
		kind               protocol.OptionKind
		mac                string
		ip                 int
	}{
		{"HPE DL385", "PciRoot(0x7)/Pci(0x1,0x1)/Pci(0x0,0x0)/MAC(B83FD2D7F74A,0x1)/IPv4(0.0.0.0)/Uri()", "Slot 5 (HTTP(S) IPv4)", protocol.OptionHTTP, "b8:3f:d2:d7:f7:4a", 4},
		{"HPE DL385", "PciRoot(0x7)/MAC(B83FD2D7F74A,0x1)/IPv6(0000:0000)", "Slot 5 (PXE IPv6)", protocol.OptionPXE, "b8:3f:d2:d7:f7:4a", 6},
		{"HPE DL385", "HD(2,GPT,3F2633A7-BDF2-4A69-B74A-D2AE40975D0D,0xFA000,0x32000)/\\EFI\\Microsoft\\Boot\\bootmgfw.efi", "Windows Boot Manager", protocol.OptionDisk, "", 0},
		{"HPE DL385", "PciRoot(0x3)/Pci(0x1,0x1)/Pci(0x0,0x0)/Scsi(0x17B,0x0)", "Smart Array", protocol.OptionDisk, "", 0},
		{"Dell R750", "VenHw(986D1755-B9D0-4F8D-A0DA-D1DB18672045)", "HTTP Device 1: NIC in Slot 5 Port 1", protocol.OptionHTTP, "", 0},
		{"Dell R750", "PciRoot(0xB)/NVMe(0x1,01-CA)/HD(1,GPT)", "PCIe SSD in Slot 2", protocol.OptionDisk, "", 0},
		{"Supermicro 821GE", "", "(B26/D0/F0) UEFI PXE IPv4 Nvidia Network Adapter - 94:6D:AE:91:FB:22 - 946DAE91FB22", protocol.OptionPXE, "94:6d:ae:91:fb:22", 4},
		{"Supermicro 821GE", "", "(B220/D0/F0) UEFI PXE IPv4 Intel(R) Ethernet Controller X550 - 7CC255793F8E", protocol.OptionPXE, "7c:c2:55:79:3f:8e", 4},
		{"Supermicro 821GE", "", "UEFI: Built-in EFI Shell", protocol.OptionShell, "", 0},
		{"GB200", "Fv(F3331DE6)/FvFile(C57AD6B7)", "UEFI Shell", protocol.OptionShell, "", 0},
		{"GB200", "PciRoot(0x5)/MAC(020000000007,0x1)/IPv4(0.0.0.0)/Uri()", "UEFI HTTPv4 (MAC:020000000007)", protocol.OptionHTTP, "02:00:00:00:00:07", 4},
		{"BlueField", "Fv(5C60F367)", "EFI Internal Shell", protocol.OptionShell, "", 0},
		{"OVMF", "Fv(7CB8BDC9)/FvFile(462CAA21)", "EFI Firmware Setup", protocol.OptionFirmware, "", 0},
		{"AMI, alias UefiHttp", "PciRoot(0x0)/MAC(020000000006,0x1)/IPv6([::]:<->[::]:,0,0)", "UEFI: PXE IPv6", protocol.OptionPXE, "02:00:00:00:00:06", 6},
		{"a disk with a shell on it", "HD(1,GPT)/\\EFI\\tools\\Shell.efi", "My shell", protocol.OptionDisk, "", 0},
		{"a disk named so, by name only", "VenHw(X)/\\EFI\\Shell.efi", "Shell disk", protocol.OptionDisk, "", 0},
		{"a stick", "PciRoot(0x0)/Pci(0x14,0x0)/USB(0x3,0x0)/HD(1,MBR)", "Stick", protocol.OptionUSB, "", 0},
		{"virtual media", "PciRoot(0x0)/USB(0x1,0x0)/CDROM(0x1)", "Virtual CD", protocol.OptionCD, "", 0},
		{"Lenovo class", "", "Network", protocol.OptionPXE, "", 0},
		{"Lenovo class", "", "HardDisk", protocol.OptionDisk, "", 0},
		{"Lenovo class", "", "CD", protocol.OptionCD, "", 0},
		{"nothing known", "VenHw(X)", "Thing", protocol.OptionOther, "", 0},
	}
	for _, tt := range tests {
		b, err := json.Marshal(map[string]any{"BootOptionReference": "Boot0001", "UefiDevicePath": tt.path, "DisplayName": tt.name, "Alias": "UefiHttp"})
		if err != nil {
			t.Fatal(err)
		}
		var o object
		if err := o.UnmarshalJSON(b); err != nil {
			t.Fatal(err)
		}
		if got := readOption(&o); got.Kind != tt.kind || got.MAC != tt.mac || got.IP != tt.ip {
			t.Errorf("%s %q %q: %+v", tt.source, tt.path, tt.name, got)
		}
	}
}

func TestMACs(t *testing.T) {
	for in, want := range map[string]string{
		"02:00:00:00:00:0A": "02:00:00:00:00:0a", "02-00-00-00-00-0a": "02:00:00:00:00:0a", "02000000000A": "02:00:00:00:00:0a",
		"": "", "00:00:00:00:00:00": "", "ff:ff:ff:ff:ff:ff": "", "01:00:5e:00:00:01": "", "N/A": "", "02:00:00:00:00:00:00:0a": "",
	} {
		if got := macOf(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestUUIDs(t *testing.T) {
	for in, ok := range map[string]bool{
		"4c4c4544-0035-3410-8050-c6c04f314733": true, "00000000-0000-0000-0000-7cc25550a8ff": false, "": false,
		"00000000-0000-0000-0000-000000000000": false, "ffffffff-ffff-ffff-ffff-ffffffffffff": false, "N/A": false,
	} {
		if got := uuidProblem(in) == ""; got != ok {
			t.Errorf("%q: %q", in, uuidProblem(in))
		}
	}
}

func FuzzBootOption(f *testing.F) {
	f.Add([]byte(`{"BootOptionReference":"Boot0001","UefiDevicePath":"MAC(020000000001,0x1)/Uri()","DisplayName":"x - 020000000001","BootOptionEnabled":false}`))
	f.Add([]byte(`{"UefiDevicePath":null,"DisplayName":7}`))
	f.Add([]byte(`{"BootOptionReference":"Boot\u00010001\u001b[2J"}`))
	f.Add([]byte(`{"Boot":{"BootSourceOverrideTarget":"Pxe","HttpBootUri":null},"BootDevice":"PXE","NextBootOnlyEnabled":true,"Attributes":{"IPv4HTTPSupport_00F5":"Disabled","HttpDev1EnDis":3}}`))
	f.Add([]byte(`{"Actions":{"#VirtualMedia.InsertMedia":{"target":"/x"}},"MediaTypes":["CD"],"Inserted":"yes"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var o object
		if o.UnmarshalJSON(b) != nil {
			return
		}
		got := readOption(&o)
		if got.MAC != "" && macOf(got.MAC) != got.MAC {
			t.Errorf("MAC %q", got.MAC)
		}
		for _, r := range got.Name + got.Path + got.Reference {
			if r < ' ' {
				t.Errorf("control character in %+v", got)
			}
		}
		main := decodeBoot("/x", "", o.f["Boot"])
		irmc := decodeIRMC("/x", "", o.f)
		for _, v := range []bootView{{main: &main}, {main: &main, settings: &main}, {main: &main, irmc: &irmc}} {
			for _, p := range profiles() {
				v.profile = p
				for _, want := range []bmc.BootOutcome{outcomeOf(v, "UefiHttp"), outcomeOf(v, "None")} {
					if want == "" {
						t.Error("no outcome")
					}
				}
			}
		}
		httpBoot(bootView{main: &main}, true, attributesOf(&o), "/x", "")
		_ = decodeSlot("/x", &o).takesCD()
	})
}
