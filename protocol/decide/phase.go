package decide

import "rackboot/protocol"

// claimState is how a server is claimed.
type claimState string

const (
	claimNone      claimState = "none"
	claimBound     claimState = "bound"
	claimReleasing claimState = "releasing"
)

// Phase computes where a server stands from what is wanted and what was
// reported; intent and report may be nil.
func Phase(intent *protocol.ServerIntent, report *protocol.ServerReport) protocol.Phase {
	claim := claimNone
	if intent != nil {
		switch {
		case intent.Releasing:
			claim = claimReleasing
		case intent.Power != "":
			claim = claimBound
		}
	}
	seen, failed := false, false
	if report != nil {
		switch report.Observation.Power {
		case "", protocol.PowerUnknown, protocol.PowerUnreachable:
		default:
			seen = true
		}
		for _, c := range report.Conditions {
			switch c.Code {
			case protocol.CondGrantSpent, protocol.CondGrantInvalid, protocol.CondOverrideNotStored, protocol.CondUnsupportedBoot:
				failed = true
			}
		}
	}
	return phaseRule(claim, seen, failed)
}

// phaseRule is the table of phases. The first row that fits decides.
//
//	claim     | seen | failed | phase
//	releasing | *    | *      | Releasing
//	bound     | *    | yes    | Error
//	bound     | *    | no     | Reserved
//	none      | yes  | *      | Available
//	none      | no   | *      | Initial
func phaseRule(claim claimState, seen, failed bool) protocol.Phase {
	switch {
	case claim == claimReleasing:
		return protocol.PhaseReleasing
	case claim == claimBound && failed:
		return protocol.PhaseError
	case claim == claimBound:
		return protocol.PhaseReserved
	case seen:
		return protocol.PhaseAvailable
	default:
		return protocol.PhaseInitial
	}
}
