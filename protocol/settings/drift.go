package settings

import (
	"fmt"

	"rackboot/protocol"
)

// Shown is what an inventory says of firmware.
func Shown(inv protocol.Inventory) protocol.Firmware {
	f := protocol.Firmware{SystemURI: inv.SystemURI, Vendor: inv.Vendor, Model: inv.Model, BootOptions: inv.BootOptions, SecureBoot: inv.SecureBoot}
	if inv.Firmware != nil {
		f.FirmwareSettings = *inv.Firmware
	}
	return f
}

// maxDrift is how many settings are named.
const maxDrift = 8

// Drift names the settings that are known to be otherwise, without their values, which may be secret.
func Drift(changes []protocol.FirmwareChange) (names []string) {
	left := 0
	for _, c := range changes {
		switch {
		case !isDrift(c.Hindrance):
		case len(names) == maxDrift:
			left++
		case c.Where == "" || c.Setting == "attributes."+c.Where:
			names = append(names, c.Setting)
		default:
			names = append(names, c.Setting+" ("+c.Where+")")
		}
	}
	if left > 0 {
		names = append(names, fmt.Sprintf("and %d more", left))
	}
	return names
}

// isDrift says whether a setting with a hindrance is known to be otherwise.
//
//	hindrance   | known
//	none        | yes
//	read-only   | yes
//	bad-value   | yes
//	no-option   | yes
//	contradicts | yes
//	unsupported | yes
//	no-setup    | yes
//	too-long    | yes
//	unread      | no
//	not-shown   | no
//	ambiguous   | no
//	secret      | no
func isDrift(h protocol.FirmwareHindrance) bool {
	switch h {
	case "", protocol.FirmwareReadOnly, protocol.FirmwareBadValue, protocol.FirmwareNoOption, protocol.FirmwareContradicts, protocol.FirmwareUnsupported, protocol.FirmwareNoSetup, protocol.FirmwareTooLong:
		return true
	case protocol.FirmwareUnread, protocol.FirmwareNotShown, protocol.FirmwareAmbiguous, protocol.FirmwareSecret:
	}
	return false
}
