package protocol

// BootFirmware is what runs a boot client, and so what its first file must be.
type BootFirmware string

// The kinds of firmware.
const (
	FirmwareBIOS         BootFirmware = "bios"
	FirmwareUEFI         BootFirmware = "uefi"
	FirmwareUBoot        BootFirmware = "uboot"
	FirmwareOpenFirmware BootFirmware = "openfirmware"
	FirmwareEPAPR        BootFirmware = "epapr"
	FirmwareOPAL         BootFirmware = "opal"
	FirmwareS390         BootFirmware = "s390"
	FirmwareRaspberryPi  BootFirmware = "rpiboot"
)

// BootArch is what a processor architecture type says about the first file.
type BootArch struct {
	// CPU is what the file is built for, in Go's words for architectures where it
	// has one: 386, amd64, arm, arm64, riscv64, loong64.
	CPU      string
	Firmware BootFirmware
	// HTTP says that the client takes a URL; otherwise it asks by TFTP.
	HTTP bool
}

// Fits says whether a server of this architecture (amd64 or arm64) can send the
// type. BIOS runs on every amd64 server and says x86.
func (a BootArch) Fits(architecture string) bool {
	return architecture != "" && (a.CPU == architecture || a.Firmware == FirmwareBIOS && a.CPU == "386" && architecture == "amd64")
}

// ArchOf gives the meaning of a processor architecture type (IANA registry
// "Processor Architecture Types"; DHCPv4 option 93, DHCPv6 option 61). RFC 4578
// has the numbers 7 and 9 swapped (erratum 4624), and x64 firmware sends either:
// EBC, 9 and 17, counts as x64. ok is false for a number without a loader.
func ArchOf(number uint16) (a BootArch, ok bool) {
	switch number {
	case 0, 1: // 1 is NEC PC98
		return BootArch{"386", FirmwareBIOS, false}, true
	case 2:
		return BootArch{"ia64", FirmwareUEFI, false}, true
	case 6:
		return BootArch{"386", FirmwareUEFI, false}, true
	case 7, 9:
		return BootArch{"amd64", FirmwareUEFI, false}, true
	case 8, 10: // 8 is XScale
		return BootArch{"arm", FirmwareUEFI, false}, true
	case 11:
		return BootArch{"arm64", FirmwareUEFI, false}, true
	case 12:
		return BootArch{"ppc64", FirmwareOpenFirmware, false}, true
	case 13:
		return BootArch{"ppc64", FirmwareEPAPR, false}, true
	case 14:
		return BootArch{"ppc64le", FirmwareOPAL, false}, true
	case 15:
		return BootArch{"386", FirmwareUEFI, true}, true
	case 16, 17:
		return BootArch{"amd64", FirmwareUEFI, true}, true
	case 18:
		return BootArch{"arm", FirmwareUEFI, true}, true
	case 19:
		return BootArch{"arm64", FirmwareUEFI, true}, true
	case 20:
		return BootArch{"386", FirmwareBIOS, true}, true
	case 21, 23:
		return BootArch{"arm", FirmwareUBoot, number == 23}, true
	case 22, 24:
		return BootArch{"arm64", FirmwareUBoot, number == 24}, true
	case 25, 26:
		return BootArch{"riscv32", FirmwareUEFI, number == 26}, true
	case 27, 28:
		return BootArch{"riscv64", FirmwareUEFI, number == 28}, true
	case 29, 30:
		return BootArch{"riscv128", FirmwareUEFI, number == 30}, true
	case 31, 32: // basic and extended
		return BootArch{"s390x", FirmwareS390, false}, true
	case 33:
		return BootArch{"mips", FirmwareUEFI, false}, true
	case 34:
		return BootArch{"mips64", FirmwareUEFI, false}, true
	case 35:
		return BootArch{"sunway32", FirmwareUEFI, false}, true
	case 36:
		return BootArch{"sunway64", FirmwareUEFI, false}, true
	case 37, 38:
		return BootArch{"loong32", FirmwareUEFI, number == 38}, true
	case 39, 40:
		return BootArch{"loong64", FirmwareUEFI, number == 40}, true
	case 41:
		return BootArch{"arm64", FirmwareRaspberryPi, false}, true
	}
	return BootArch{}, false
}

// Arch is the architecture to choose the client's first file by: of the types
// that it lists, the first known one that fits its class, else the first known one
// with the class's way of loading: firmware sends the wrong type more often than
// the wrong class. ok is false if none is known.
func (c BootClient) Arch() (a BootArch, ok bool) {
	if c.Class == ClassRaspberryPi { // older ones say that they are a PC
		return BootArch{"arm64", FirmwareRaspberryPi, false}, true
	}
	for _, n := range c.Archs {
		b, known := ArchOf(n)
		if !known {
			continue
		}
		if b.HTTP == (c.Class == ClassHTTPClient) || c.Class == ClassUBoot {
			return b, true
		}
		if !ok {
			a, ok = b, true
			a.HTTP = !b.HTTP
		}
	}
	return a, ok
}
