package plan

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// drives is what a BMC has to boot its server from.
type drives string

const (
	drivesUnknown drives = "unknown" // the inventory was not read, or does not say
	drivesNone    drives = "none"
	drivesSome    drives = "some"
)

// carriesRule says whether a server's BMC can carry a first boot. The first row that fits
// decides.
//
//	first boot   | drives | carries
//	VirtualMedia | none   | no
//	*            | *      | yes
//
// What is not known is tried: the BMC itself refuses what it cannot do, before anything is
// powered on.
func carriesRule(f resource.FirstBoot, d drives) bool {
	return f != resource.FirstBootVirtualMedia || d != drivesNone
}

// Carries is carriesRule by what is known of a system; nil is nothing.
func Carries(f resource.FirstBoot, inv *protocol.Inventory) bool {
	d := drivesUnknown
	switch {
	case inv == nil || inv.Media == nil:
	case inv.Media.Boot == 0:
		d = drivesNone
	default:
		d = drivesSome
	}
	return carriesRule(f, d)
}
