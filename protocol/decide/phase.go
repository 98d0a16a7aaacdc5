package decide

import "rackboot/protocol"

// claimState is how a server is claimed.
type claimState string

const (
	claimNone      claimState = "none"
	claimBound     claimState = "bound"
	claimReleasing claimState = "releasing"
	// Of the other owners, also while they end.
	claimMaintained claimState = "maintenance"
	claimDiscovered claimState = "discovery"
	// Of a server that nobody owns, and that is not discovered.
	claimUndiscovered claimState = "undiscovered"
	claimGivenUp      claimState = "failed"
)

// Phase computes where a server stands from what is wanted and what was
// reported; intent and report may be nil.
func Phase(intent *protocol.ServerIntent, report *protocol.ServerReport) protocol.Phase {
	claim := claimNone
	if intent != nil {
		switch {
		case intent.Owner.Kind == protocol.PurposeMaintenance:
			claim = claimMaintained
		case intent.Owner.Kind == protocol.PurposeDiscovery:
			claim = claimDiscovered
		case intent.Releasing:
			claim = claimReleasing
		case intent.Power != "":
			claim = claimBound
		case intent.Discovery == protocol.DiscoveryFailed:
			claim = claimGivenUp
		case intent.Discovery == protocol.DiscoveryWanted:
			claim = claimUndiscovered
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
			case protocol.CondGrantSpent, protocol.CondGrantInvalid, protocol.CondOverrideNotStored, protocol.CondUnsupportedBoot, protocol.CondNoBootChain, protocol.CondDiscoveryFailed:
				failed = true
			}
		}
	}
	return phaseRule(claim, seen, failed)
}

// phaseRule is the table of phases. The first row that fits decides.
//
//	owner        | seen | failed | phase
//	releasing    | *    | *      | Releasing
//	discovery    | *    | yes    | Error
//	discovery    | *    | no     | Discovery
//	maintenance  | *    | yes    | Error
//	maintenance  | *    | no     | Maintenance
//	bound        | *    | yes    | Error
//	bound        | *    | no     | Reserved
//	failed       | *    | *      | Error
//	undiscovered | *    | *      | Initial
//	none         | yes  | *      | Available
//	none         | no   | *      | Initial
//
// failed is that its discovery was given up. A discovery that ends is a Discovery still.
func phaseRule(claim claimState, seen, failed bool) protocol.Phase {
	switch {
	case claim == claimReleasing:
		return protocol.PhaseReleasing
	case claim == claimGivenUp,
		failed && (claim == claimDiscovered || claim == claimMaintained || claim == claimBound):
		return protocol.PhaseError
	case claim == claimDiscovered:
		return protocol.PhaseDiscovery
	case claim == claimUndiscovered:
		return protocol.PhaseInitial
	case claim == claimMaintained:
		return protocol.PhaseMaintenance
	case claim == claimBound:
		return protocol.PhaseReserved
	case seen:
		return protocol.PhaseAvailable
	default:
		return protocol.PhaseInitial
	}
}
