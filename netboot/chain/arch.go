package chain

import "debug/pe"

// names are the names of an architecture's loaders.
type names struct {
	suffix  string // of shim and GRUB
	machine uint16 // in the header of an EFI executable (PE/COFF)
}

// namesOf gives the names by the architecture, in Go's words; ok is false where UEFI
// firmware starts no loader that this package knows.
func namesOf(cpu string) (n names, ok bool) {
	switch cpu {
	case "amd64":
		return names{"x64", pe.IMAGE_FILE_MACHINE_AMD64}, true
	case "arm64":
		return names{"aa64", pe.IMAGE_FILE_MACHINE_ARM64}, true
	case "386":
		return names{"ia32", pe.IMAGE_FILE_MACHINE_I386}, true
	case "arm":
		return names{"arm", pe.IMAGE_FILE_MACHINE_ARMNT}, true
	case "riscv64":
		return names{"riscv64", pe.IMAGE_FILE_MACHINE_RISCV64}, true
	case "loong64":
		return names{"loongarch64", pe.IMAGE_FILE_MACHINE_LOONGARCH64}, true
	}
	return names{}, false
}
