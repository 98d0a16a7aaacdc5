package chain

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"rackboot/protocol"
)

// executable is the smallest file with the header of an EFI executable, one section of
// 16 bytes, and more behind it.
func executable(machine uint16, more string) []byte {
	const pe, optional = 0x40, 0xf0
	b := make([]byte, pe+sizeCOFF+optional+sizeSection)
	copy(b, "MZ")
	binary.LittleEndian.PutUint32(b[offsetPE:], pe)
	copy(b[pe:], "PE\x00\x00")
	binary.LittleEndian.PutUint16(b[pe+4:], machine)
	binary.LittleEndian.PutUint16(b[pe+6:], 1)
	binary.LittleEndian.PutUint16(b[pe+20:], optional)
	section := b[pe+sizeCOFF+optional:]
	binary.LittleEndian.PutUint32(section[16:], 16)
	binary.LittleEndian.PutUint32(section[20:], uint32(len(b)))
	return append(append(b, make([]byte, 16)...), more...)
}

func TestInspect(t *testing.T) {
	const amd64, arm64 = 0x8664, 0xaa64 // PE/COFF section 3.3.1
	whole := executable(amd64, "")
	for _, row := range []struct {
		name    string
		cpu     string
		role    Role
		content []byte
		http    bool
		want    string // in the error
	}{
		{"shim", "amd64", RoleShim, whole, false, ""},
		{"GRUB of Debian 12", "amd64", RoleGRUB, whole, false, ""},
		{"GRUB of Debian 13", "amd64", RoleGRUB, executable(amd64, "\x00grub_efi_net_boot_from_https\x00"), true, ""},
		{"the name in another loader", "amd64", RoleShim, executable(amd64, httpGRUB), false, ""},
		{"arm64", "arm64", RoleIPXE, executable(arm64, ""), false, ""},
		{"of another architecture", "amd64", RoleShim, executable(arm64, ""), false, "another architecture"},
		{"cut off in a section", "amd64", RoleShim, whole[:len(whole)-1], false, "cut off"},
		{"cut off in the header", "amd64", RoleShim, whole[:0x50], false, "no EFI executable"},
		{"empty", "amd64", RoleShim, nil, false, "no EFI executable"},
		{"a script", "amd64", RoleIPXE, []byte("#!ipxe\n" + strings.Repeat(" ", 100)), false, "no EFI executable"},
		{"an architecture without loaders", "s390x", RoleShim, whole, false, "no loader is known"},
	} {
		got, err := Inspect(row.cpu, row.role, row.content)
		if got.HTTP != row.http || (err == nil) != (row.want == "") {
			t.Errorf("%s: %+v, %v", row.name, got, err)
		}
		if err != nil && (protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// The paths of Debian's packages shim-signed, grub-efi-*-signed and ipxe, and of iPXE's
// own ipxeboot.tar.gz. GRUB for disks (grubx64.efi.signed) cannot load from the network.
func TestCandidates(t *testing.T) {
	for name, want := range map[string]bool{
		"shimx64.efi.signed": true, "grubnetx64.efi.signed": true, "snponly.efi": true, "ipxe.efi": true,
		"snponly-shimx64.efi": true, "shimx64.efi": true, "grubx64.efi": true,
		"grubx64.efi.signed": false, "gcdx64.efi.signed": false, "shimaa64.efi.signed": false, "mmx64.efi": false,
	} {
		got := slices.ContainsFunc(Roles(), func(r Role) bool { return slices.Contains(Candidates("amd64", r), name) })
		if got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if !slices.Contains(Candidates("arm64", RoleIPXE), "ipxe-arm64.efi") {
		t.Error("Debian 13's iPXE for arm64 is not known")
	}
}

// FuzzInspect: no file makes it panic.
func FuzzInspect(f *testing.F) {
	f.Add(executable(0x8664, httpGRUB))
	f.Add(executable(0x8664, "")[:0x60])
	f.Add([]byte("MZ"))
	f.Fuzz(func(t *testing.T, content []byte) {
		l, err := Inspect("amd64", RoleGRUB, content)
		if err != nil && l.HTTP {
			t.Error("it says something of what it refuses")
		}
	})
}
