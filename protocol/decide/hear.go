package decide

import (
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Hears is the architecture that a boot client says of itself (DHCPv4 option 93, DHCPv6 option 61), where
// it counts as said by the server's firmware; empty where it does not. own is that the client has a MAC
// address that the server is registered with, and is no other's. What is known of its architecture does
// not count here: a contradiction is to be heard too.
func Hears(own bool, known System, c protocol.BootClient) string {
	a, ok := c.Arch()
	known.Architecture = ""
	loads := ok && a.Firmware == protocol.FirmwareUEFI && slices.Contains(resource.BootArchitectures(), a.CPU)
	if !hearRule(own, known.fits(ClaimantOf(c, time.Time{})), loads) {
		return ""
	}
	return a.CPU
}

// hearRule says whether a boot client's architecture is taken for the server's own word. The first row
// that fits decides.
//
//	own | fits | loads | heard
//	yes | yes  | yes   | yes
//	*   | *    | *     | no
//
// fits is that its UUID, and its port at a relay, are the server's where both are known. loads is that it is
// UEFI firmware of an architecture that boots something here: BIOS runs on every amd64 server, and says x86.
func hearRule(own, fits, loads bool) bool { return own && fits && loads }
