package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// stage is how far a stop has come.
type stage string

const (
	stageNew      stage = "new"      // nothing sent
	stageSoft     stage = "soft"     // GracefulShutdown sent, time left
	stageExpired  stage = "expired"  // GracefulShutdown sent or refused, no time left
	stageForced   stage = "forced"   // ForceOff sent a moment ago
	stageForceDue stage = "forcedue" // ForceOff sent, and time to send it again
)

var stages = []stage{stageNew, stageSoft, stageExpired, stageForced, stageForceDue}

// resendForce is how long a ForceOff may take before it is sent again.
const resendForce = 10 * time.Second

// stopStep says what to send next to bring a server to Off. Only Off itself ends
// it: PoweringOff is a server that still runs (Ironic takes it for off, and then skips the hard stop), and
// an unknown state is read again, with nothing sent. The first row that fits
// decides.
//
//	power       | mode | stage    | action
//	Off         | *    | *        | none
//	Unknown     | *    | *        | none
//	Unreachable | *    | *        | none
//	*           | hard | new      | force-off
//	*           | hard | soft     | force-off
//	*           | hard | expired  | force-off
//	*           | *    | forced   | none
//	*           | *    | forcedue | force-off
//	PoweringOff | soft | new      | none
//	*           | soft | new      | graceful-shutdown
//	*           | soft | soft     | none
//	*           | soft | expired  | force-off
func stopStep(power protocol.PowerState, mode resource.StopMode, st stage) ActionKind {
	switch power {
	case protocol.PowerOff, protocol.PowerUnknown, protocol.PowerUnreachable:
		return ActNone
	case protocol.PowerOn, protocol.PowerPoweringOn, protocol.PowerPoweringOff, protocol.PowerPaused:
	}
	switch {
	case st == stageForced:
		return ActNone
	case st == stageForceDue, st == stageExpired, mode == resource.StopHard:
		return ActForceOff
	case st == stageNew && power != protocol.PowerPoweringOff:
		return ActGraceful
	}
	return ActNone
}

// refusesSoft says whether a BMC answered that it will not: with a status of 4xx, or
// by not offering the reset. It does not get the soft timeout for that.
func refusesSoft(c protocol.Code) bool {
	switch c {
	case protocol.CodeUnsupported, protocol.CodeInvalid, protocol.CodeConflict, protocol.CodeNotFound, protocol.CodeDenied:
		return true
	case protocol.CodeUnavailable, protocol.CodeTimeout, protocol.CodeInternal:
	}
	return false
}

// retryStop is the pause after a stop that the BMC refused.
const retryStop = 3 * time.Second
