package dhcp

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/protocol"
)

const (
	// optIPXE is option 175, in which iPXE encapsulates its features.
	optIPXE = dhcpv4.GenericOptionCode(175)

	prefixHTTPClient = "HTTPClient" // UEFI 2.5 section 24.7, option 60
	prefixPXEClient  = "PXEClient"  // PXE 2.1 section 2.2.3, option 60
	prefixUBoot      = "U-Boot"     // U-Boot's CONFIG_BOOTP_VCI_STRING, option 60

	userClassIPXE = "iPXE"  // option 77 of iPXE
	userClassGPXE = "gPXE"  // and of what it was before
	userClassGRUB = "GRUB2" // option 77 of GRUB

	// piText in option 43 is what a Raspberry Pi wants to see before it loads.
	piText = "Raspberry Pi Boot"
)

// said is what option 60 begins with.
type said string

const (
	saidHTTP  said = "HTTPClient"
	saidPXE   said = "PXEClient"
	saidUBoot said = "U-Boot"
	saidOther said = "other" // or nothing
)

// classify says what kind of boot client sent the packet.
func classify(p *dhcpv4.DHCPv4) protocol.ClientClass {
	user := p.Options.Get(dhcpv4.OptionUserClassInformation)
	ipxe := len(p.Options.Get(optIPXE)) > 0 || hasUserClass(user, userClassIPXE) || hasUserClass(user, userClassGPXE)
	pi := isPi(p.ClientHWAddr) || bytes.Contains(p.Options.Get(dhcpv4.OptionVendorSpecificInformation), []byte(piText))
	var firmware protocol.BootFirmware
	for _, n := range archs(p.Options.Get(dhcpv4.OptionClientSystemArchitectureType)) {
		if a, ok := protocol.ArchOf(n); ok {
			firmware = a.Firmware
			break
		}
	}
	return classRule(ipxe, hasUserClass(user, userClassGRUB), saysClass(p), firmware, pi)
}

// classRule is the classification. iPXE comes first: it says PXEClient like the
// ROM that loaded it, and answering it as that ROM loops. Then option 60 decides;
// the architecture only tells apart who says the same in it. The first row that
// fits decides.
//
//	iPXE | GRUB | option 60  | firmware | Pi  | class
//	yes  | *    | *          | *        | *   | iPXE
//	no   | yes  | *          | *        | *   | GRUB
//	no   | no   | HTTPClient | *        | *   | HTTPClient
//	no   | no   | U-Boot     | *        | *   | U-Boot
//	no   | no   | *          | uboot    | *   | U-Boot
//	no   | no   | *          | rpiboot  | *   | RaspberryPi
//	no   | no   | PXEClient  | bios     | yes | RaspberryPi
//	no   | no   | PXEClient  | *        | *   | PXEClient
//	no   | no   | other      | *        | *   | none
//
// iPXE is its user class or option 175, which FlexBoot sends without a user class;
// GRUB is its user class; firmware is that of the first known type of option 93; Pi
// is a MAC address of the Raspberry Pi's maker or its text in option 43.
func classRule(ipxe, grub bool, word said, firmware protocol.BootFirmware, pi bool) protocol.ClientClass {
	switch {
	case ipxe:
		return protocol.ClassIPXE
	case grub:
		return protocol.ClassGRUB
	case word == saidHTTP:
		return protocol.ClassHTTPClient
	case word == saidUBoot, firmware == protocol.FirmwareUBoot:
		return protocol.ClassUBoot
	case firmware == protocol.FirmwareRaspberryPi, word == saidPXE && firmware == protocol.FirmwareBIOS && pi:
		return protocol.ClassRaspberryPi
	case word == saidPXE:
		return protocol.ClassPXEClient
	}
	return protocol.ClassNone
}

// saysClass reads option 60. The match is by prefix: what follows is the
// architecture, and a repeated option 60 arrives concatenated (RFC 3396).
func saysClass(p *dhcpv4.DHCPv4) said {
	class := string(p.Options.Get(dhcpv4.OptionClassIdentifier))
	switch {
	case strings.HasPrefix(class, prefixHTTPClient):
		return saidHTTP
	case strings.HasPrefix(class, prefixPXEClient):
		return saidPXE
	case strings.HasPrefix(class, prefixUBoot):
		return saidUBoot
	}
	return saidOther
}

// hasUserClass looks for a user class in option 77 in both forms: raw, as iPXE and
// GRUB send it, and the list of RFC 3004. A raw value whose first byte happens to
// be a length that fits reads as a list too, so both are compared.
func hasUserClass(raw []byte, class string) bool {
	if string(bytes.TrimRight(raw, "\x00")) == class {
		return true
	}
	for len(raw) > 0 {
		n := int(raw[0])
		if n == 0 || n > len(raw)-1 {
			return false
		}
		if string(raw[1:1+n]) == class {
			return true
		}
		raw = raw[1+n:]
	}
	return false
}

// isPi knows the MAC addresses of Raspberry Pis by their maker's prefixes (IEEE
// registry): the older ones say in option 93 that they are a PC.
func isPi(mac []byte) bool {
	if len(mac) < 3 {
		return false
	}
	switch [3]byte(mac) {
	case [3]byte{0xb8, 0x27, 0xeb}, [3]byte{0xdc, 0xa6, 0x32}, [3]byte{0xe4, 0x5f, 0x01}, [3]byte{0x28, 0xcd, 0xc1},
		[3]byte{0xd8, 0x3a, 0xdd}, [3]byte{0x2c, 0xcf, 0x67}, [3]byte{0x88, 0xa2, 0x9e}:
		return true
	}
	return false
}

// archs reads a list of 16-bit architecture types: DHCPv4 option 93 (RFC 4578
// section 2.1), DHCPv6 option 61 (RFC 5970 section 3.3). An odd length is a broken
// client: what is whole is read.
func archs(raw []byte) []uint16 {
	var out []uint16
	for ; len(raw) >= 2; raw = raw[2:] {
		out = append(out, binary.BigEndian.Uint16(raw))
	}
	return out
}
