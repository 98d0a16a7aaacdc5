package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

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
	// Of a server that nobody owns, and whose agent has records of an owner that did not let it go.
	claimOrphaned claimState = "orphaned"
)

// Phase computes where a server stands from what is wanted and what was
// reported; intent and report may be nil.
func Phase(intent *message.ServerIntent, report *resource.ServerReport) resource.Phase {
	claim := claimNone
	if intent != nil {
		switch {
		case intent.Owner.Kind == resource.PurposeMaintenance:
			claim = claimMaintained
		case intent.Owner.Kind == resource.PurposeDiscovery:
			claim = claimDiscovered
		case intent.Releasing:
			claim = claimReleasing
		case intent.Power != "":
			claim = claimBound
		case intent.Discovery == resource.DiscoveryFailed:
			claim = claimGivenUp
		case intent.Discovery == resource.DiscoveryWanted:
			claim = claimUndiscovered
		}
	}
	seen, failed := false, false
	if report != nil {
		if claim == claimNone && report.Unreleased != nil {
			claim = claimOrphaned
		}
		switch report.Observation.Power {
		case "", protocol.PowerUnknown, protocol.PowerUnreachable:
		default:
			seen = true
		}
		for _, c := range report.Conditions {
			switch c.Code {
			case resource.CondGrantSpent, resource.CondGrantInvalid, resource.CondOverrideNotStored, resource.CondUnsupportedBoot, resource.CondNoBootChain, resource.CondDiscoveryFailed:
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
//	orphaned     | *    | *      | Error
//	undiscovered | *    | *      | Initial
//	none         | yes  | *      | Available
//	none         | no   | *      | Initial
//
// failed is that its discovery was given up. A discovery that ends is a Discovery still.
func phaseRule(claim claimState, seen, failed bool) resource.Phase {
	switch {
	case claim == claimReleasing:
		return resource.PhaseReleasing
	case claim == claimGivenUp, claim == claimOrphaned,
		failed && (claim == claimDiscovered || claim == claimMaintained || claim == claimBound):
		return resource.PhaseError
	case claim == claimDiscovered:
		return resource.PhaseDiscovery
	case claim == claimUndiscovered:
		return resource.PhaseInitial
	case claim == claimMaintained:
		return resource.PhaseMaintenance
	case claim == claimBound:
		return resource.PhaseReserved
	case seen:
		return resource.PhaseAvailable
	default:
		return resource.PhaseInitial
	}
}
