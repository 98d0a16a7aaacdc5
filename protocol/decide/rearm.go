package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

var rearmStates = []RearmState{RearmNone, RearmArming, RearmArmed, RearmUndo, RearmGivenUp}

// rearmStep moves it along. The first row that fits decides; a row that is not there
// leaves all as it is.
//
//	want | power | state   | armed | next    | action
//	*    | off   | arming  | *     | arming  | disarm
//	*    | off   | armed   | *     | armed   | disarm
//	*    | off   | undo    | *     | undo    | disarm
//	*    | off   | givenup | *     | none    | none
//	*    | on    | undo    | *     | undo    | disarm
//	*    | on    | armed   | none  | none    | taken
//	*    | on    | armed   | other | givenup | none
//	yes  | on    | none    | *     | arming  | arm
//	yes  | on    | arming  | *     | arming  | arm
//
// taken is that firmware took it: the server has restarted by itself, from its disk.
func rearmStep(want bool, power running, state RearmState, has armed) (RearmState, rearmAct) {
	switch {
	case power == isOff && state == RearmGivenUp:
		return RearmNone, rearmNothing
	case power == isOff && state != RearmNone, power == isOn && state == RearmUndo:
		return state, rearmDisarm
	case power == isOn && state == RearmArmed && has == armedNone:
		return RearmNone, rearmTaken
	case power == isOn && state == RearmArmed && has == armedOther:
		return RearmGivenUp, rearmNothing
	case power == isOn && want && (state == RearmNone || state == RearmArming):
		return RearmArming, rearmArm
	}
	return state, rearmNothing
}

type rearmAct string

const (
	rearmNothing rearmAct = "none"
	rearmArm     rearmAct = "arm"
	rearmDisarm  rearmAct = "disarm"
	rearmTaken   rearmAct = "taken"
)

// rearmRule says whether the disk is to be armed while the server runs.
//
//	boot    | osReboot | last boot | outcome
//	network | *        | *         | no
//	disk    | *        | installed | yes
//	disk    | rearm    | disk      | yes
//	disk    | *        | *         | no
//
// network is each boot of a maintenance or of boot: Network: a restart that came up
// from the disk in the middle of a maintenance is what metal-operator 938 is about.
func rearmRule(network bool, r resource.OSReboot, last lastBoot) bool {
	return !network && (last == lastInstalled || last == lastDisk && r == resource.OSRebootRearm)
}

// lastBoot is how the boot that runs came about.
type lastBoot string

const (
	lastNone      lastBoot = "none"      // not by an attempt of this owner that succeeded
	lastInstalled lastBoot = "installed" // from the network, and the installer has reported its end
	lastDisk      lastBoot = "disk"
)

func (r *Record) lastBoot(owner string) lastBoot {
	a := r.Attempt
	switch {
	case a == nil || a.Stage.State != resource.AttemptSucceeded || a.Order.OwnerUID != owner:
		return lastNone
	case a.Network() && a.Stage.Evidence == protocol.EvidenceInstalled:
		return lastInstalled
	case a.Network():
		return lastNone
	}
	return lastDisk
}

// has is an override that was read, as the rearm sees it.
func (r *Rearm) has(o protocol.Override) armed {
	switch {
	case r == nil:
		return armedNone
	case !o.Armed() && r.Outcome == protocol.BootPendingReset:
		return armedOurs // no read shows it
	case !o.Armed():
		return armedNone
	case o.Target == protocol.TargetHdd, r.Outcome == protocol.BootAliased && o.Target == r.Read.Target:
		return armedOurs
	}
	return armedOther
}

// rearmPause is between two writes of which the first had no good answer.
const rearmPause = 30 * time.Second
