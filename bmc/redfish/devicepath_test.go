package redfish

import (
	"strings"
	"testing"

	"rackboot/internal/doctable"
)

// gracePath is of a GB200 (captured tree), with another address.
const gracePath = "VenHw(1E5A432C-0466-4D31-B009-D4D9239271D3)/MemoryMapped(0xB,0x14120000,0x14121FFF)/PciRoot(0x5)/Pci(0x0,0x0)/USB(0x4,0x0)/USB(0x0,0x0)/MAC(0200000000FE,0x1)/IPv4(0.0.0.0)/Uri()"

func TestPathMAC(t *testing.T) {
	for _, tt := range []struct {
		path, mac string
		byUSB     bool
	}{
		{gracePath, "02:00:00:00:00:fe", true},
		{"VenHw(1E5A432C-0466-4D31-B009-D4D9239271D3)/MemoryMapped(0xB,0x1,0x2)", "", false},
		{"VenHw(1E5A432C-0466-4D31-B009-D4D9239271D3,020000000001)/Pci(0x0,0x0)", "", false},
		{"PciRoot(0x5)/MAC(020000000007,0x1)/IPv4(0.0.0.0)/Uri()", "02:00:00:00:00:07", false},
		{"PciRoot(0x5)/mac(02:00:00:00:00:07)", "02:00:00:00:00:07", false},
		{"MAC(020000000007,0x1)/USB(0x0,0x0)", "02:00:00:00:00:07", false}, // what follows is not on the way
		{"PciRoot(0x5)/MAC(0200000000070000000000000000000000000000000000000000000000000000,0x20)", "", false},
		{"Uri(http://h/MAC(020000000007,0x1)/x.efi)", "", false},
		{"", "", false},
	} {
		if mac, byUSB := pathMAC(devicePath(tt.path)); mac != tt.mac || byUSB != tt.byUSB {
			t.Errorf("%s: %q, %v", tt.path, mac, byUSB)
		}
	}
}

func TestNameMAC(t *testing.T) {
	for name, want := range map[string]string{
		"UEFI HTTPv4 (MAC:020000000007)":                            "02:00:00:00:00:07",
		"UEFI: PXE IPv4 Nvidia Network Adapter - 94:6D:AE:AA:2A:18": "94:6d:ae:aa:2a:18",
		"PXE 94-6D-AE-AA-2A-18":                                     "94:6d:ae:aa:2a:18",
		"Network Adapter - 94:6D:AE:91:FB:22 - 946DAE91FB22":        "94:6d:ae:91:fb:22",
		"Ethernet Controller X550 - 7CC255793F8E":                   "7c:c2:55:79:3f:8e",
		"a team of 02:00:00:00:00:01 and 02:00:00:00:00:02":         "",
		"Device 1E5A432C-0466-4D31-B009-D4D9239271D3":               "",
		"{1E5A432C-0466-4D31-B009-D4D9239271D3}":                    "",
		"PCIe SSD 01-CA-C7-06-E2-8E-E3-8C":                          "",
		"NIC 1 Port 1":                                              "",
	} {
		if got := nameMAC(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestLoaderArch(t *testing.T) {
	for path, want := range map[string]string{
		`HD(1,GPT,18FC296A)/\EFI\ubuntu\shimaa64.efi`: archARM, `HD(1,GPT)/\EFI\BOOT\BOOTX64.EFI`: archX86,
		`HD(1,GPT)/\EFI\Linux\debian-6.1.0-13-amd64.efi`: archX86, `HD(1,GPT)/\EFI\Microsoft\Boot\bootmgfw.efi`: "",
		"PciRoot(0x0)/MAC(020000000001,0x1)": "",
	} {
		if got := loaderArch(devicePath(path)); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	one, two := option{loader: archARM}, option{loader: archX86}
	if optionsArch([]option{{}, one, {}, one}) != archARM || optionsArch([]option{one, two}) != "" || optionsArch([]option{one, two, one}) != "" {
		t.Error("loaders of two kinds are not told apart")
	}
}

func TestArchitectureOf(t *testing.T) {
	for _, tt := range []struct{ set, words, want string }{
		{"x86-64", "", archX86},
		{"ARM-A64", "", archARM},
		{"ARM-A32", "ARM Cortex", ""},
		{"IA-64", "Intel Itanium", ""},
		{"", "Grace A02", archARM},
		{"", "AMD EPYC 7763", archX86},
		{"", "", ""},
		{"OEM", "unheard of", ""},
	} {
		if got := architectureOf(tt.set, tt.words); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

func TestChooseTable(t *testing.T) {
	many := doctable.Words(hasNone, hasOne, hasMany)
	doctable.Of(t, "choice.go", "chooseRule").HoldOne(t, [][]string{many, many, many, doctable.Words(unreadNone, unreadShort, unreadLong)}, func(in []string) string {
		return string(chooseRule(howMany(in[0]), howMany(in[1]), howMany(in[2]), unreadTime(in[3])))
	})
}

// FuzzDevicePath: whatever a path holds, it has a bound of nodes, and an address of it is one that
// stands in a MAC node as it is written.
func FuzzDevicePath(f *testing.F) {
	for _, seed := range []string{
		gracePath, "MAC(B83FD29097C4,0x1)", "VenHw(986D1755-B9D0-4F8D-A0DA-D1DB18672045)", "Uri(http://h/)a)/b", "((((/)/MAC(", "////",
		`HD(1,GPT)/\EFI\BOOT\BOOTAA64.EFI`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		nodes := devicePath(path)
		if len(nodes) > maxNodes {
			t.Fatalf("%d nodes", len(nodes))
		}
		mac, _ := pathMAC(nodes)
		if mac != "" && (macOf(mac) != mac || !strings.Contains(strings.ToUpper(path), "MAC")) {
			t.Errorf("%q of %q", mac, path)
		}
		if mac := nameMAC(path); mac != "" && macOf(mac) != mac {
			t.Errorf("%q of the name %q", mac, path)
		}
		if arch := loaderArch(nodes); arch != "" && !strings.Contains(strings.ToLower(path), ".efi") {
			t.Errorf("%q of %q", arch, path)
		}
	})
}
