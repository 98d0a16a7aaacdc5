package decide

import (
	"time"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// requestLimit bounds how long an accepted request may take before its outcome
// is called unknown.
const requestLimit = time.Hour

// hour is what is known of a request's time, by the hub's clock.
type hour string

const (
	hourUnknown hour = "unknown" // the hub was not heard since the agent started
	hourAhead   hour = "ahead"   // of notAfter
	hourPassed  hour = "passed"
)

// outcomeWaits is no outcome yet: the request is looked at again.
const outcomeWaits resource.Outcome = "waits"

// wanted is the power that a claim wants; none without one, or at its end.
func wanted(in *message.ServerIntent) resource.Power {
	if in != nil && !in.Releasing {
		return in.Power
	}
	return ""
}

// claimed is what a server's claim says to a one-shot.
type claimed string

const (
	claimAbsent claimed = "none"
	claimOn     claimed = "On"
	claimOff    claimed = "Off"
	claimEnds   claimed = "ends" // or the request was accepted under one that is gone
)

func claimWants(want resource.Power) claimed {
	switch want {
	case resource.WantOn:
		return claimOn
	case resource.WantOff:
		return claimOff
	}
	return claimAbsent
}

// acceptRule is the table of one-shots. The first row that fits decides.
//
//	given   | hub     | action    | pre | claim | boot    | any | taken | outcome
//	foreign | *       | *         | *   | *     | *       | *   | *     | unknown
//	own     | unknown | *         | *   | *     | *       | *   | *     | waits
//	own     | passed  | *         | *   | *     | *       | *   | *     | expired
//	own     | ahead   | other     | *   | *     | *       | *   | *     | refused
//	own     | ahead   | *         | no  | *     | *       | *   | *     | refused
//	own     | ahead   | *         | yes | ends  | *       | *   | *     | refused
//	own     | ahead   | power-off | yes | On    | *       | *   | *     | refused
//	own     | ahead   | power-off | yes | *     | *       | *   | *     | pending
//	own     | ahead   | reboot    | yes | *     | *       | *   | yes   | refused
//	own     | ahead   | reboot    | yes | none  | *       | no  | no    | refused
//	own     | ahead   | reboot    | yes | On    | network | no  | no    | refused
//	own     | ahead   | reboot    | yes | *     | *       | *   | no    | pending
//
// A request that was given to an earlier incarnation may have been done by it
// (P9). Until the hub was heard, the agent's disk may be an old copy, and nobody
// knows what time it is. any is anyPhase: it lets a reboot stop a server without a
// claim, and end a first boot. Holds and firmware work are no reason to refuse: the
// request waits behind them. taken is a rack that was taken over: what was stopped would not be
// started again.
func acceptRule(foreign bool, t hour, action resource.RequestAction, pre bool, claim claimed, network, anyPhase, taken bool) (resource.Outcome, string) {
	reboot, off := action == resource.RequestReboot, action == resource.RequestPowerOff
	switch {
	case foreign:
		return resource.OutcomeUnknown, givenToEarlier
	case t == hourUnknown:
		return outcomeWaits, ""
	case t == hourPassed:
		return resource.OutcomeExpired, notBegun
	case !reboot && !off:
		return resource.OutcomeRefused, "unknown action"
	case !pre:
		return resource.OutcomeRefused, "its precondition does not hold"
	case claim == claimEnds:
		return resource.OutcomeRefused, endsWithClaim
	case off && claim == claimOn:
		return resource.OutcomeRefused, wantsOn
	case off:
		return resource.OutcomePending, ""
	case taken:
		return resource.OutcomeRefused, isTaken
	case claim == claimAbsent && !anyPhase:
		return resource.OutcomeRefused, "the server has no claim, so nothing says what it boots; anyPhase stops it all the same"
	case claim == claimOn && network && !anyPhase:
		return resource.OutcomeRefused, "a first boot is under way; anyPhase ends it"
	}
	return resource.OutcomePending, ""
}

const (
	notBegun       = "its notAfter passed before it was begun"
	givenToEarlier = "was given to an earlier disk of this agent"
	wantsOn        = "its claim wants the server On: change the claim's power"
	endsWithClaim  = "the claim ends"
	takenBack      = "it was taken back before anything was sent for it"
	isTaken        = "the rack was taken over, and holds of the agent before are not known: rackctl rack settle"
)
