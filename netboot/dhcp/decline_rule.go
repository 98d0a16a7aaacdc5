package dhcp

import "time"

const (
	// declineWindow is how long after an OFFER or ACK a DECLINE of it is believed: clients
	// probe an address for seconds (RFC 5227 section 2.1), before they use it.
	declineWindow = 2 * time.Minute
	// briefHold is how long an address rests that one client found in use and nobody else
	// answers for: long enough to offer it another.
	briefHold = 2 * time.Minute
)

// declined is what a DECLINE says of an address that we gave its sender.
type declined string

const (
	declinedNone declined = "none" // the address is not the MAC's
	declinedLate declined = "late" // of another exchange, or long after it was given
	declinedJust declined = "just" // of the exchange in which it was given, and at once
)

// declineOutcome is what becomes of a DECLINE.
type declineOutcome string

const (
	declineIgnore declineOutcome = "ignore"
	declineForget declineOutcome = "forget" // the MAC loses the address, which is probed before anybody gets it
	declineBrief  declineOutcome = "brief"  // it rests for briefHold
	declineRest   declineOutcome = "rest"   // it rests for leasing.DeclineHold
)

// declineRule is the table of DECLINEs of addresses that are not reserved. The first row that
// fits decides.
//
//	given | budget | probe   | outcome
//	none  | *      | *       | ignore
//	late  | spent  | *       | ignore
//	late  | left   | used    | rest
//	late  | left   | *       | ignore
//	just  | spent  | *       | forget
//	just  | left   | used    | rest
//	just  | left   | free    | brief
//	just  | left   | skipped | rest
//
// Nothing proves who sent a DECLINE. What it can do is bounded by the budget of its MAC and of
// the segment, and by what the link says itself.
func declineRule(given declined, budget bool, p probed) declineOutcome {
	switch {
	case given == declinedNone, given == declinedLate && (!budget || p != probeUsed):
		return declineIgnore
	case !budget:
		return declineForget
	case p == probeFree:
		return declineBrief
	}
	return declineRest
}
