package decide

import (
	"time"

	"rackboot/protocol/resource"
)

// destructive is an action that may need more than the everyday key.
type destructive string

const (
	actStop    destructive = "stop"    // a ForceOff that is no part of a stop under way
	actRelease destructive = "release" // of a hold
	actGrant   destructive = "grant"   // of a first boot
	actWipe    destructive = "wipe"
	// actFirmware writes settings of firmware.
	actFirmware destructive = "firmware"
)

// approvalNone is that no approval is needed.
const approvalNone resource.ApprovalClass = "none"

// destructiveRule is what is destructive. The first row that fits decides.
//
//	action  | key | foreign | room | installed | approval
//	*       | no  | *       | *    | *         | none
//	stop    | yes | *       | no   | *         | bulk-stop
//	release | yes | yes     | *    | *         | hold-override
//	grant   | yes | *       | *    | yes       | reprovision
//	wipe    | yes | *       | *    | *         | wipe
//	firmware | yes | *      | *    | *         | firmware
//	*       | yes | *       | *    | *         | none
//
// key is that the agent knows a destructive key. foreign is that somebody else than
// the hold's owner releases it; room that the bound of the agent's own file is not
// reached; installed that the server has a provisioned record under the same claim.
func destructiveRule(act destructive, key, foreign, room, installed bool) resource.ApprovalClass {
	switch {
	case !key:
		return approvalNone
	case act == actStop && !room:
		return resource.ApproveBulkStop
	case act == actRelease && foreign:
		return resource.ApproveHoldOverride
	case act == actGrant && installed:
		return resource.ApproveReprovision
	case act == actWipe:
		return resource.ApproveWipe
	case act == actFirmware:
		return resource.ApproveFirmware
	}
	return approvalNone
}

// overrides says whether a release is by somebody else than the hold's owner.
func overrides(h resource.ActiveHold, r resource.Release) bool {
	return r.By != h.Owner
}

// ReleaseApproval says whether a release needs an approval, where the agent knows a
// destructive key.
func ReleaseApproval(key bool, h resource.ActiveHold, r resource.Release) bool {
	return destructiveRule(actRelease, key, overrides(h, r), true, false) != approvalNone
}

// Clearing is how a ForceOff was let through.
type Clearing string

// The clearings.
const (
	ClearFree  Clearing = "free"  // it needs none
	ClearCount Clearing = "count" // it takes of the room
	ClearSpend Clearing = "spend" // it uses an approval
	ClearWait  Clearing = "wait"  // it is not sent
)

// clearRule says whether a ForceOff is sent. The first row that fits decides.
//
//	key | cleared | violated | approved | waits | room | answer
//	no  | *       | *        | *        | *     | *    | free
//	yes | yes     | *        | *        | *     | *    | free
//	yes | no      | yes      | *        | *     | *    | free
//	yes | no      | no       | yes      | *     | *    | spend
//	yes | no      | no       | no       | no    | yes  | count
//	yes | no      | no       | no       | *     | *    | wait
//
// cleared is that the same stop was let through before: it is sent again as often as
// it takes. violated is that the server was powered on under its hold, which nobody
// who signs documents can do (P2). A stop that waits goes on waiting when room comes
// back: else a bulk stop that was denied would be done little by little.
func clearRule(key, cleared, violated, approved, waits, room bool) Clearing {
	switch {
	case !key, cleared, violated:
		return ClearFree
	case approved:
		return ClearSpend
	case !waits && destructiveRule(actStop, key, false, room, false) == approvalNone:
		return ClearCount
	}
	return ClearWait
}

// Bulk is what bounds ForceOff at one moment. The zero value bounds nothing.
type Bulk struct {
	// Key says that the agent knows a destructive key.
	Key bool
	// Bound is how many servers may be forced off within the window without an approval;
	// 0 does not bound it.
	Bound int
	// Others is how many other servers were.
	Others int
	// Window is what Others were counted over.
	Window time.Duration
	// Approval is the id of one that names the server and was not used for it.
	Approval string
}

// Clearance is what a ForceOff took that is sent first now: room, or an approval.
type Clearance struct {
	How      Clearing
	At       time.Time
	Window   time.Duration
	Approval string
}

// approvalTime is how an approval's time compares with the agent's.
type approvalTime string

const (
	approvalEarly approvalTime = "early"
	approvalValid approvalTime = "valid"
	approvalOver  approvalTime = "over"
)

func approvalTimeOf(now time.Time, a resource.Approval) approvalTime {
	switch {
	case now.Before(a.NotBefore):
		return approvalEarly
	case !now.Before(a.NotAfter):
		return approvalOver
	}
	return approvalValid
}

// ApprovalAnswer is what becomes of an approval whose signature was verified.
type ApprovalAnswer string

// The answers.
const (
	ApprovalTaken     ApprovalAnswer = "taken"
	ApprovalMalformed ApprovalAnswer = "malformed"
	ApprovalForeign   ApprovalAnswer = "foreign" // it is for another rack or agent
	ApprovalTooEarly  ApprovalAnswer = "too early"
	ApprovalTooLate   ApprovalAnswer = "too late"
	ApprovalNoRoom    ApprovalAnswer = "no room" // there are as many as an agent keeps
)

// approvalRule judges an approval that arrives. The first row that fits decides.
//
//	form | ours | time  | answer
//	bad  | *    | *     | malformed
//	good | no   | *     | foreign
//	good | yes  | early | too early
//	good | yes  | over  | too late
//	good | yes  | valid | taken
func approvalRule(good, ours bool, t approvalTime) ApprovalAnswer {
	switch {
	case !good:
		return ApprovalMalformed
	case !ours:
		return ApprovalForeign
	case t == approvalEarly:
		return ApprovalTooEarly
	case t == approvalOver:
		return ApprovalTooLate
	}
	return ApprovalTaken
}

// JudgeApproval judges an approval whose signature was verified. now is the agent's
// time and not before its floor; ours is that rack and agent are the agent's own.
func JudgeApproval(now time.Time, ours bool, a resource.Approval) ApprovalAnswer {
	return approvalRule(len(a.Validate()) == 0, ours, approvalTimeOf(now, a))
}

// ApprovalCounts says whether an approval that was taken is still in its time.
func ApprovalCounts(now time.Time, a resource.Approval) bool {
	return approvalTimeOf(now, a) == approvalValid
}
