package protocol

import "testing"

// TestArchOf has each number of the registry up to 41.
func TestArchOf(t *testing.T) {
	for n, want := range map[uint16]BootArch{
		0: {"386", FirmwareBIOS, false}, 1: {"386", FirmwareBIOS, false}, 2: {"ia64", FirmwareUEFI, false},
		6: {"386", FirmwareUEFI, false}, 7: {"amd64", FirmwareUEFI, false}, 8: {"arm", FirmwareUEFI, false},
		9:  {"amd64", FirmwareUEFI, false}, // EBC, sent by x64 firmware (erratum 4624 of RFC 4578)
		10: {"arm", FirmwareUEFI, false}, 11: {"arm64", FirmwareUEFI, false},
		12: {"ppc64", FirmwareOpenFirmware, false}, 13: {"ppc64", FirmwareEPAPR, false}, 14: {"ppc64le", FirmwareOPAL, false},
		15: {"386", FirmwareUEFI, true}, 16: {"amd64", FirmwareUEFI, true}, 17: {"amd64", FirmwareUEFI, true},
		18: {"arm", FirmwareUEFI, true}, 19: {"arm64", FirmwareUEFI, true}, 20: {"386", FirmwareBIOS, true},
		21: {"arm", FirmwareUBoot, false}, 22: {"arm64", FirmwareUBoot, false}, 23: {"arm", FirmwareUBoot, true}, 24: {"arm64", FirmwareUBoot, true},
		25: {"riscv32", FirmwareUEFI, false}, 26: {"riscv32", FirmwareUEFI, true}, 27: {"riscv64", FirmwareUEFI, false},
		28: {"riscv64", FirmwareUEFI, true}, 29: {"riscv128", FirmwareUEFI, false}, 30: {"riscv128", FirmwareUEFI, true},
		31: {"s390x", FirmwareS390, false}, 32: {"s390x", FirmwareS390, false}, 33: {"mips", FirmwareUEFI, false}, 34: {"mips64", FirmwareUEFI, false},
		35: {"sunway32", FirmwareUEFI, false}, 36: {"sunway64", FirmwareUEFI, false}, 37: {"loong32", FirmwareUEFI, false},
		38: {"loong32", FirmwareUEFI, true}, 39: {"loong64", FirmwareUEFI, false}, 40: {"loong64", FirmwareUEFI, true},
		41: {"arm64", FirmwareRaspberryPi, false},
		3:  {}, 4: {}, 5: {}, 42: {}, 0xffff: {}, // no loader exists
	} {
		if got, ok := ArchOf(n); got != want || ok != (want != BootArch{}) {
			t.Errorf("ArchOf(%d) = %+v, %v, want %+v", n, got, ok, want)
		}
	}
}

func TestBootClientArch(t *testing.T) {
	x64, x64HTTP := BootArch{"amd64", FirmwareUEFI, false}, BootArch{"amd64", FirmwareUEFI, true}
	for _, row := range []struct {
		name  string
		class ClientClass
		archs []uint16
		want  BootArch
	}{
		{"PXE", ClassPXEClient, []uint16{7}, x64},
		{"9 for x64 (quirk 4)", ClassPXEClient, []uint16{9}, x64},
		{"17 for x64 (quirk 4)", ClassHTTPClient, []uint16{17}, x64HTTP},
		{"the class wins over an HTTP type (quirk 2)", ClassPXEClient, []uint16{16}, x64},
		{"the class wins over a PXE type (quirk 2)", ClassHTTPClient, []uint16{7}, x64HTTP},
		{"a list: the one that fits the class", ClassHTTPClient, []uint16{7, 16}, x64HTTP},
		{"a list that begins with an unknown type", ClassPXEClient, []uint16{999, 11}, BootArch{"arm64", FirmwareUEFI, false}},
		{"U-Boot says itself how it loads", ClassUBoot, []uint16{24}, BootArch{"arm64", FirmwareUBoot, true}},
		{"a Raspberry Pi that says PC", ClassRaspberryPi, []uint16{0}, BootArch{"arm64", FirmwareRaspberryPi, false}},
		{"nothing", ClassPXEClient, nil, BootArch{}},
		{"nothing known", ClassPXEClient, []uint16{999}, BootArch{}},
	} {
		got, ok := BootClient{Class: row.class, Archs: row.archs}.Arch()
		if got != row.want || ok != (row.want != BootArch{}) {
			t.Errorf("%s: %+v, %v", row.name, got, ok)
		}
	}
}

func TestBootArchFits(t *testing.T) {
	for _, row := range []struct {
		number       uint16
		architecture string
		want         bool
	}{
		{7, "amd64", true},
		{16, "amd64", true},
		{0, "amd64", true},
		{20, "amd64", true},
		{6, "amd64", false},
		{11, "amd64", false},
		{11, "arm64", true},
		{22, "arm64", true},
		{41, "arm64", true},
		{10, "arm64", false},
		{0, "arm64", false},
		{7, "", false},
	} {
		a, _ := ArchOf(row.number)
		if got := a.Fits(row.architecture); got != row.want {
			t.Errorf("%d fits %q: %v", row.number, row.architecture, got)
		}
	}
	if (BootArch{}).Fits("") {
		t.Error("nothing fits nothing")
	}
}
