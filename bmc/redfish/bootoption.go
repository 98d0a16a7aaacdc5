package redfish

import (
	"net"
	"slices"
	"strings"

	"rackboot/protocol"
)

// bootOption decodes and classifies a BootOption. Its Alias is not looked at:
// where it exists it is wrong (AMI calls an IPv6 PXE entry UefiHttp).
func bootOption(o *object) protocol.BootOption {
	b := protocol.BootOption{
		Reference: o.text("BootOptionReference"),
		Name:      printable(o.text("DisplayName")),
		Path:      printable(o.text("UefiDevicePath")),
		Disabled:  string(o.f["BootOptionEnabled"]) == "false",
	}
	if b.Reference == "" {
		b.Reference = printable(o.text("Id"))
	}
	if b.Name == "" {
		b.Name = printable(o.text("Name"))
	}
	b.Kind = kindOf(b.Path, b.Name)
	if b.Kind == protocol.OptionPXE || b.Kind == protocol.OptionHTTP {
		b.MAC = macIn(b.Path)
		if b.MAC == "" {
			b.MAC = macIn(b.Name)
		}
		b.IP = versionOf(b.Path + " " + b.Name)
	}
	return b
}

// kindOf classifies by the nodes of the device path (UEFI 2.10 section 10.6),
// where there is one that tells, else by name.
func kindOf(path, name string) protocol.OptionKind {
	path, name = strings.ToUpper(path), strings.ToUpper(name)
	shell := strings.Contains(name, "SHELL") && !strings.Contains(path, ".EFI")
	for _, row := range []struct {
		nodes []string
		kind  protocol.OptionKind
	}{
		{[]string{"/URI("}, protocol.OptionHTTP},
		{[]string{"MAC("}, protocol.OptionPXE},
		{[]string{"CDROM("}, protocol.OptionCD},
		{[]string{"USB(", "USBCLASS(", "USBWWID("}, protocol.OptionUSB},
		{[]string{"NVME(", "SATA(", "SCSI(", "SAS(", "SASEX(", "HD(", "ISCSI(", "EMMC(", "SD("}, protocol.OptionDisk},
		{[]string{"FVFILE(", "FV(", "MEMORYMAPPED("}, protocol.OptionFirmware},
	} {
		if slices.ContainsFunc(row.nodes, func(n string) bool { return hasNode(path, n) }) {
			if row.kind == protocol.OptionFirmware && shell {
				return protocol.OptionShell
			}
			return row.kind
		}
	}
	if shell {
		return protocol.OptionShell
	}
	for _, row := range []struct {
		words []string
		kind  protocol.OptionKind
	}{
		{[]string{"HTTP"}, protocol.OptionHTTP},
		{[]string{"PXE", "NETWORK", "LAN "}, protocol.OptionPXE},
		{[]string{"CD/DVD", "CDROM", "CD-ROM", "DVD", "OPTICAL", "VIRTUAL CD"}, protocol.OptionCD},
		{[]string{"USB"}, protocol.OptionUSB},
		{[]string{"HARD D", "HARDDISK", "NVME", "SSD", "FIXED DISK", "BOOT MANAGER", "RAID", "DISK"}, protocol.OptionDisk},
		{[]string{"SETUP", "DIAGNOSTIC", "UTILITY"}, protocol.OptionFirmware},
	} {
		if slices.ContainsFunc(row.words, func(w string) bool { return strings.Contains(name, w) }) {
			return row.kind
		}
	}
	if name == "CD" { // Lenovo's order is of classes
		return protocol.OptionCD
	}
	return protocol.OptionOther
}

// hasNode finds a node at the beginning of the path or after a separator.
func hasNode(path, node string) bool {
	if strings.HasPrefix(node, "/") {
		return strings.Contains(path, node)
	}
	return strings.HasPrefix(path, node) || strings.Contains(path, "/"+node)
}

// macIn finds a MAC address: MAC(B83FD29097C4,0x1), B8:3F:D2:90:97:C4,
// "MAC:B83FD29097C4" or a word of twelve digits (Supermicro).
func macIn(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'f') && (r < 'A' || r > 'F') && r != ':' && r != '-'
	})
	for _, w := range words {
		if mac := macOf(w); mac != "" {
			return mac
		}
		for _, part := range strings.FieldsFunc(w, func(r rune) bool { return r == ':' || r == '-' }) {
			if mac := macOf(part); mac != "" {
				return mac
			}
		}
	}
	return ""
}

// macOf brings a MAC address into the form 02:00:00:00:00:01; empty for what is
// none, or nobody's (zero, broadcast and multicast).
func macOf(s string) string {
	s = strings.TrimSpace(s)
	if len(s) == 12 {
		for i := 10; i > 0; i -= 2 {
			s = s[:i] + ":" + s[i:]
		}
	}
	mac, err := net.ParseMAC(s)
	if err != nil || len(mac) != 6 || mac[0]&1 != 0 || !slices.ContainsFunc(mac, func(b byte) bool { return b != 0 }) {
		return ""
	}
	return mac.String()
}

func versionOf(s string) int {
	s = strings.ToUpper(s)
	switch {
	case strings.Contains(s, "IPV4"):
		return 4
	case strings.Contains(s, "IPV6"):
		return 6
	}
	return 0
}
