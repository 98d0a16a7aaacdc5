package chain

import (
	"bytes"
	"debug/pe"
	"encoding/binary"

	"rackboot/protocol"
)

// MaxLoader bounds a loader's file, in bytes. The largest known is 4 MiB.
const MaxLoader = 16 << 20

// Role is what a loader's file is for.
type Role string

// The roles.
const (
	RoleShim     Role = "shim"      // starts GRUB under Secure Boot
	RoleGRUB     Role = "grub"      // GRUB that can load from the network
	RoleIPXE     Role = "ipxe"      // iPXE; the one that uses the firmware's driver goes first
	RoleIPXEShim Role = "ipxe-shim" // starts iPXE under Secure Boot
)

// Roles lists all roles.
func Roles() []Role { return []Role{RoleShim, RoleGRUB, RoleIPXE, RoleIPXEShim} }

// Candidates are the names under which distributions and projects ship the file of a
// role, the best first; none for an architecture without loaders. Names with .signed
// are Debian's.
func Candidates(cpu string, role Role) []string {
	n, ok := namesOf(cpu)
	if !ok {
		return nil
	}
	switch role {
	case RoleShim:
		return []string{"shim" + n.suffix + ".efi.signed", "shim" + n.suffix + ".efi"}
	case RoleGRUB:
		return []string{"grubnet" + n.suffix + ".efi.signed", "grubnet" + n.suffix + ".efi", "grub" + n.suffix + ".efi"}
	case RoleIPXE:
		own := []string{"snponly.efi", "ipxe.efi"}
		if cpu != "amd64" { // Debian has one folder for all
			own = []string{"ipxe-" + cpu + ".efi", "snponly.efi", "ipxe.efi"}
		}
		return own
	case RoleIPXEShim:
		return []string{"snponly-shim" + n.suffix + ".efi", "ipxe-shim" + n.suffix + ".efi"}
	}
	return nil
}

// served is the name of a role's file in a boot: what the loader before it asks for.
func served(cpu string, role Role) string {
	n, _ := namesOf(cpu)
	switch role {
	case RoleShim:
		return "shim" + n.suffix + ".efi"
	case RoleGRUB:
		return "grub" + n.suffix + ".efi"
	case RoleIPXE:
		return "snponly.efi"
	case RoleIPXEShim:
		return "snponly-shim" + n.suffix + ".efi"
	}
	return ""
}

// Loader is one loader of the site. The zero value is none.
type Loader struct {
	Digest string `json:"digest"` // "sha256:" and 64 hex digits
	Size   int64  `json:"size"`   // bytes
	Path   string `json:"path"`   // where it was read, for people
	// HTTP says of GRUB that it finds its way when firmware has started it by UEFI HTTP
	// boot. Debian 12's cannot: it stops at a prompt.
	HTTP bool `json:"http,omitempty"`
}

// Loaders are the loaders of one architecture.
type Loaders map[Role]Loader

// Set is the loaders of a site by architecture, in Go's words.
type Set map[string]Loaders

// httpGRUB is in every GRUB that takes the network and the server's name from the
// device path of a UEFI HTTP boot, as Debian 13's and Fedora's do; it is the name of a
// function of the module, which GRUB links by name when it starts.
const httpGRUB = "grub_efi_net_boot_from_https"

// Inspect looks whether content is a loader of the role for the architecture, complete
// as far as its header says. What is said in the result is HTTP; the caller fills in the
// rest. The error is invalid.
func Inspect(cpu string, role Role, content []byte) (Loader, error) {
	const op = "inspect loader"
	n, ok := namesOf(cpu)
	if !ok {
		return Loader{}, protocol.Errorf(protocol.CodeInvalid, op, "no loader is known for architecture %q", cpu).
			WithHint("use amd64, arm64, 386, arm, riscv64 or loong64")
	}
	bad := func(why string) (Loader, error) {
		return Loader{}, protocol.Errorf(protocol.CodeInvalid, op, "%s is %s", role, why).
			WithHint("give an EFI executable for %s; install the distribution's package again if the file is damaged", cpu)
	}
	machine, end, ok := header(content)
	switch {
	case !ok:
		return bad("no EFI executable")
	case machine != n.machine:
		return bad("an EFI executable for another architecture")
	case end > uint64(len(content)):
		return bad("cut off")
	}
	return Loader{HTTP: role == RoleGRUB && bytes.Contains(content, []byte(httpGRUB))}, nil
}

const (
	offsetPE    = 0x3c // of the offset of the PE header (PE/COFF section 2.1)
	sizeCOFF    = 24   // signature and COFF header
	sizeSection = 40
)

// header reads the machine of a PE/COFF file and where its last section ends.
func header(b []byte) (machine uint16, end uint64, ok bool) {
	if len(b) < offsetPE+4 || string(b[:2]) != "MZ" {
		return 0, 0, false
	}
	at := uint64(binary.LittleEndian.Uint32(b[offsetPE:]))
	if at+sizeCOFF > uint64(len(b)) || string(b[at:at+4]) != "PE\x00\x00" {
		return 0, 0, false
	}
	coff := b[at+4:]
	machine = binary.LittleEndian.Uint16(coff)
	sections := uint64(binary.LittleEndian.Uint16(coff[2:]))
	table := at + sizeCOFF + uint64(binary.LittleEndian.Uint16(coff[16:]))
	if machine == pe.IMAGE_FILE_MACHINE_UNKNOWN || table+sections*sizeSection > uint64(len(b)) {
		return 0, 0, false
	}
	for s := b[table : table+sections*sizeSection]; len(s) > 0; s = s[sizeSection:] {
		// SizeOfRawData and PointerToRawData (PE/COFF section 3).
		end = max(end, uint64(binary.LittleEndian.Uint32(s[16:]))+uint64(binary.LittleEndian.Uint32(s[20:])))
	}
	return machine, end, true
}
