package chain

import (
	"net/netip"
	"testing"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// All types of the registry (RFC 4578, IANA, EDK2's Dhcp.h; 9 and 17 are EBC, which x64
// firmware sends): what is not UEFI of an architecture with loaders is given none.
func TestLoadersOfEachType(t *testing.T) {
	want := map[uint16]string{
		6: "386", 15: "386", 7: "amd64", 9: "amd64", 16: "amd64", 17: "amd64", 8: "arm", 10: "arm", 18: "arm",
		11: "arm64", 19: "arm64", 27: "riscv64", 28: "riscv64", 39: "loong64", 40: "loong64",
	}
	for n := range uint16(64) {
		a, known := protocol.ArchOf(n)
		got := ""
		if known && a.Firmware == protocol.FirmwareUEFI && len(Candidates(a.CPU, RoleShim)) > 0 {
			got = a.CPU
		}
		if got != want[n] {
			t.Errorf("type %d: loaders of %q, want %q", n, got, want[n])
		}
	}
}

// shim 16.1 asks for grub and its architecture's letters; the letters are those of
// removable media (UEFI 2.10 section 3.5.1.1). iPXE's shim takes its own name without
// "-shim" and the letters.
func TestServedNames(t *testing.T) {
	for cpu, want := range map[string][4]string{
		"amd64":   {"shimx64.efi", "grubx64.efi", "snponly.efi", "snponly-shimx64.efi"},
		"arm64":   {"shimaa64.efi", "grubaa64.efi", "snponly.efi", "snponly-shimaa64.efi"},
		"386":     {"shimia32.efi", "grubia32.efi", "snponly.efi", "snponly-shimia32.efi"},
		"riscv64": {"shimriscv64.efi", "grubriscv64.efi", "snponly.efi", "snponly-shimriscv64.efi"},
	} {
		for i, role := range Roles() {
			if got := served(cpu, role); got != want[i] {
				t.Errorf("%s %s: %q, want %q", cpu, role, got, want[i])
			}
		}
	}
}

// The path of a first file fits the field `file` of the ACK, from which alone shim
// takes its folder (shim netboot.c); 127 bytes and a NUL. Tokens have 32 bytes.
func TestFirstFilesFitTheField(t *testing.T) {
	const maxFile, token = 127, "0123456789abcdef0123456789abcdef"
	for _, cpu := range []string{"amd64", "arm64", "386", "arm", "riscv64", "loong64"} {
		for _, role := range Roles() {
			if p := netboot.TFTPPath(token, served(cpu, role)); len(p) > maxFile {
				t.Errorf("%s has %d bytes", p, len(p))
			}
		}
	}
	seg := resource.SegmentIntent{Address: netip.MustParseAddr("10.20.0.2"), BaseURL: "https://10.20.0.2:8443"}
	if !HTTPS(seg) || HTTPS(resource.SegmentIntent{Address: seg.Address}) {
		t.Error("HTTPS mistakes a segment")
	}
	for base, want := range map[string]bool{"": false, "http://[2001:db8::1]:8080": false, "https://[2001:db8::1]:8443": true} {
		if got := HTTPS(resource.SegmentIntent{Address: seg.Address, IPv6: &resource.SegmentIPv6Intent{BaseURL: base}}); got != want {
			t.Errorf("HTTPS of a segment with %q for IPv6: %t", base, got)
		}
	}
}
