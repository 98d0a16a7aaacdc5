package host

import (
	"strings"

	"rackboot/protocol"
)

// board reads what the kernel shows of SMBIOS. Serial and UUID need root.
func (t tree) board() protocol.Board {
	field := func(name string) string { return said(t.line("sys/class/dmi/id/" + name)) }
	b := protocol.Board{
		Vendor: field("sys_vendor"), Product: field("product_name"), Serial: field("product_serial"), UUID: uuid(field("product_uuid")),
		BIOSVendor: field("bios_vendor"), BIOSVersion: field("bios_version"), BIOSDate: field("bios_date"),
	}
	const deviceTree = "sys/firmware/devicetree/base/"
	if b.Product == "" { // boards without SMBIOS, as most with U-Boot
		b.Product = said(t.line(deviceTree + "model"))
	}
	if b.Serial == "" {
		b.Serial = said(t.line(deviceTree + "serial-number"))
	}
	return b
}

// said is a text of SMBIOS; empty if it is what a vendor leaves where nobody wrote
// anything.
func said(s string) string {
	switch strings.ToLower(s) {
	case "default string", "to be filled by o.e.m.", "not specified", "not available", "not applicable", "none", "n/a", "unknown", "oem",
		"system manufacturer", "system product name", "system serial number", "0123456789", "empty":
		return ""
	}
	if strings.Trim(s, "0") == "" || strings.Trim(strings.ToLower(s), "x") == "" || strings.Trim(s, ".") == "" {
		return ""
	}
	return s
}

// uuid is a UUID that tells machines apart, in lower case; empty if it does not.
func uuid(s string) string {
	s = strings.ToLower(s)
	if !protocol.ValidUUID(s) {
		return ""
	}
	switch digits := strings.ReplaceAll(s, "-", ""); {
	case strings.Trim(digits, "0") == "", strings.Trim(digits, "f") == "":
		return "" // DSP0134: not present, and not settable
	case s == "03000200-0400-0500-0006-000700080009": // AMI's default
		return ""
	}
	return s
}
