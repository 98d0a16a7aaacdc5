package redfish

import (
	"strings"

	"rackboot/protocol"
)

// resetPath is where the reset of a system is by convention (DSP0266, actions), for one that
// could not be read yet.
const resetPath = "/Actions/ComputerSystem.Reset"

// blindTarget is where ForceOff is sent although the system cannot be read; empty for
// nowhere. The first row that fits decides.
//
//	fault     | learned | target
//	Ambiguous | *       | nowhere
//	Stranger  | *       | nowhere
//	*         | yes     | learned
//	Cut       | no      | conventional
//	Slow      | no      | conventional
//	*         | no      | nowhere
//
// learned is that the address of the action was read in this driver's life. Else only the
// path that somebody gave is known, which is enough where the BMC has an answer for it.
func blindTarget(kind protocol.FaultKind, learned, given string) string {
	switch {
	case kind == protocol.FaultAmbiguous, kind == protocol.FaultStranger:
		return ""
	case learned != "":
		return learned
	case given != "" && (kind == protocol.FaultCut || kind == protocol.FaultSlow):
		return strings.TrimSuffix(given, "/") + resetPath
	}
	return ""
}
