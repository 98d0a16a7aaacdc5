package plan

import "rackboot/protocol/resource"

// RotationVerdict is what is to be done about the change of a BMC's account.
type RotationVerdict string

// The verdicts.
const (
	RotationKeep     RotationVerdict = "keep"      // nothing, or nothing yet
	RotationPromote  RotationVerdict = "promote"   // next is the account from now on
	RotationRollBack RotationVerdict = "roll-back" // next is given up
	RotationLose     RotationVerdict = "lose"      // both are kept, and people are told
	RotationForget   RotationVerdict = "forget"    // the former is given up
)

// Rotate decides, by what the agent said last. change says whether that is about this
// very change; newest, whether it has the newest version of the Secret. The former
// account is given up only once the agent has the next one as the only one. The first
// row that fits decides.
//
//	state    | report  | change | newest | verdict
//	Rotating | Rotated | yes    | *      | promote
//	Rotating | Kept    | yes    | *      | roll-back
//	Rotating | Lost    | yes    | *      | lose
//	Promoted | InUse   | *      | yes    | forget
//	*        | *       | *      | *      | keep
func Rotate(state resource.RotationState, report resource.AccountState, change, newest bool) RotationVerdict {
	under := state == resource.RotationUnderWay && change
	switch {
	case under && report == resource.AccountRotated:
		return RotationPromote
	case under && report == resource.AccountKept:
		return RotationRollBack
	case under && report == resource.AccountLost:
		return RotationLose
	case state == resource.RotationPromoted && report == resource.AccountInUse && newest:
		return RotationForget
	}
	return RotationKeep
}
