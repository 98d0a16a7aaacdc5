package dhcp6

import (
	"slices"
	"strings"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"rackboot/protocol"
)

const (
	wordHTTP = "HTTPClient" // UEFI 2.5 section 24.7, option 16
	wordPXE  = "PXEClient"  // UEFI 2.5 section 24.3, option 16

	userClassIPXE = "iPXE" // option 15 of iPXE
	userClassGPXE = "gPXE" // and of what it was before
)

// said is what a vendor class (option 16) begins with.
type said string

const (
	saidHTTP  said = "HTTPClient"
	saidPXE   said = "PXEClient"
	saidOther said = "other" // or nothing
)

// classify says what kind of boot client has these options.
func classify(o dhcpv6.Options) protocol.ClientClass {
	raw, _ := value(o, dhcpv6.OptionUserClass)
	users := strings16(raw)
	ipxe := slices.Contains(users, userClassIPXE) || slices.Contains(users, userClassGPXE)
	var firmware protocol.BootFirmware
	archs, _ := value(o, dhcpv6.OptionClientArchType)
	for _, n := range numbers(archs) {
		if a, ok := protocol.ArchOf(n); ok {
			firmware = a.Firmware
			break
		}
	}
	return classRule(ipxe, saysClass(o), firmware)
}

// classRule is the classification. iPXE comes first: it says PXEClient like the ROM
// that loaded it, and answering it as that ROM loops. The first row that fits
// decides.
//
//	iPXE | option 16  | firmware | class
//	yes  | *          | *        | iPXE
//	no   | HTTPClient | *        | HTTPClient
//	no   | *          | uboot    | U-Boot
//	no   | PXEClient  | *        | PXEClient
//	no   | other      | *        | none
//
// iPXE is its user class; firmware is that of the first known type of option 61.
func classRule(ipxe bool, word said, firmware protocol.BootFirmware) protocol.ClientClass {
	switch {
	case ipxe:
		return protocol.ClassIPXE
	case word == saidHTTP:
		return protocol.ClassHTTPClient
	case firmware == protocol.FirmwareUBoot:
		return protocol.ClassUBoot
	case word == saidPXE:
		return protocol.ClassPXEClient
	}
	return protocol.ClassNone
}

// saysClass reads each option 16, whatever its enterprise number: firmware sends 343
// (Intel), and not all of it. The match is by prefix; the architecture follows.
func saysClass(o dhcpv6.Options) said {
	for _, opt := range o.Get(dhcpv6.OptionVendorClass) {
		raw := opt.ToBytes()
		if len(raw) < 4 {
			continue
		}
		for _, v := range strings16(raw[4:]) {
			switch {
			case strings.HasPrefix(v, wordHTTP):
				return saidHTTP
			case strings.HasPrefix(v, wordPXE):
				return saidPXE
			}
		}
	}
	return saidOther
}
