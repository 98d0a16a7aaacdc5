package redfish

import (
	"net"
	"slices"
	"strings"

	"rackboot/protocol"
)

// option is a BootOption with what is read of it for the host.
type option struct {
	protocol.BootOption

	byUSB  bool   // its interface leads to the BMC
	loader string // the architecture that its loader's name says; empty if none
}

// readOption decodes and classifies a BootOption. Its Alias is not looked at:
// where it exists it is wrong (AMI calls an IPv6 PXE entry UefiHttp).
func readOption(o *object) option {
	b := option{BootOption: protocol.BootOption{
		Reference: printable(o.text("BootOptionReference")),
		Name:      printable(o.text("DisplayName")),
		Path:      printable(o.text("UefiDevicePath")),
		Disabled:  string(o.f["BootOptionEnabled"]) == "false",
	}}
	if b.Reference == "" {
		b.Reference = printable(o.text("Id"))
	}
	if b.Name == "" {
		b.Name = printable(o.text("Name"))
	}
	nodes := devicePath(o.text("UefiDevicePath"))
	b.Kind, b.loader = kindOf(nodes, b.Name), loaderArch(nodes)
	if b.Kind == protocol.OptionPXE || b.Kind == protocol.OptionHTTP {
		b.MAC, b.byUSB = pathMAC(nodes)
		if b.MAC == "" {
			b.MAC = nameMAC(b.Name)
		}
		b.IP = versionOf(b.Path + " " + b.Name)
	}
	return b
}

// kindOf classifies by the nodes of the device path, where there is one that tells, else by
// name.
func kindOf(nodes []node, name string) protocol.OptionKind {
	name = strings.ToUpper(name)
	has := func(names ...string) bool {
		return slices.ContainsFunc(nodes, func(n node) bool { return slices.Contains(names, n.name) })
	}
	file := slices.ContainsFunc(nodes, func(n node) bool { return strings.HasSuffix(strings.ToUpper(n.name), ".EFI") })
	shell := strings.Contains(name, "SHELL") && !file
	for _, row := range []struct {
		nodes []string
		kind  protocol.OptionKind
	}{
		{[]string{"URI"}, protocol.OptionHTTP},
		{[]string{"MAC"}, protocol.OptionPXE},
		{[]string{"CDROM"}, protocol.OptionCD},
		{[]string{"USB", "USBCLASS", "USBWWID"}, protocol.OptionUSB},
		{[]string{"NVME", "SATA", "SCSI", "SAS", "SASEX", "HD", "ISCSI", "EMMC", "SD"}, protocol.OptionDisk},
		{[]string{"FVFILE", "FV", "MEMORYMAPPED"}, protocol.OptionFirmware},
	} {
		if has(row.nodes...) {
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
