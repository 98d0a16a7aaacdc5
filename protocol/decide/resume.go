package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// resumable is what of a server can be resumed.
type resumable string

const (
	resumeNothing resumable = "nothing" // it is as ordered, as far as is known
	resumeUnsaid  resumable = "unsaid"  // nothing says what it is to boot
	resumeLost    resumable = "lost"    // something else than an order stopped or started it
	resumeSpent   resumable = "spent"   // a first boot that its grant allows no more
	resumeBoot    resumable = "boot"    // a boot is under way
	resumeStops   resumable = "stops"   // it needs a stop, and the server is never powered off
)

var resumables = []resumable{resumeNothing, resumeUnsaid, resumeLost, resumeSpent, resumeBoot, resumeStops}

// bootsDisk says whether what the owner prescribes now is a boot from disk.
func (r *Record) bootsDisk(in *message.ServerIntent, echo *resource.Provisioned) bool {
	return in != nil && in.Boot != nil && !always(in.Boot) && provisioned(in.Boot, r, echo)
}

// resumeRule is the table of resumes. The first row that fits decides.
//
//	given   | hub     | pre | claim | held | taken | can     | retry | outcome
//	foreign | *       | *   | *     | *    | *     | *       | *     | unknown
//	own     | unknown | *   | *     | *    | *     | *       | *     | waits
//	own     | passed  | *   | *     | *    | *     | *       | *     | expired
//	own     | ahead   | no  | *     | *    | *     | *       | *     | refused
//	own     | ahead   | yes | none  | *    | *     | *       | *     | refused
//	own     | ahead   | yes | Off   | *    | *     | *       | *     | refused
//	own     | ahead   | yes | ends  | *    | *     | *       | *     | refused
//	own     | ahead   | yes | On    | yes  | *     | *       | *     | refused
//	own     | ahead   | yes | On    | no   | yes   | *       | *     | refused
//	own     | ahead   | yes | On    | no   | no    | nothing | *     | refused
//	own     | ahead   | yes | On    | no   | no    | unsaid  | *     | refused
//	own     | ahead   | yes | On    | no   | no    | stops   | *     | refused
//	own     | ahead   | yes | On    | no   | no    | boot    | no    | refused
//	own     | ahead   | yes | On    | no   | no    | spent   | no    | refused
//	own     | ahead   | yes | On    | no   | no    | *       | *     | pending
//
// Unlike a reboot it does not wait behind holds: who resumes looks at the server now. A
// server of which nothing unexpected is known may run, and is not reset: a reboot asks
// its system to stop first. A grant that is used up is renewed by an operator's retry
// only, because it begins the installation anew (P4).
func resumeRule(foreign bool, t hour, pre bool, claim claimed, held, taken bool, can resumable, retry bool) (resource.Outcome, string) {
	switch {
	case foreign:
		return resource.OutcomeUnknown, givenToEarlier
	case t == hourUnknown:
		return outcomeWaits, ""
	case t == hourPassed:
		return resource.OutcomeExpired, notBegun
	case !pre:
		return resource.OutcomeRefused, "its precondition does not hold"
	case claim == claimAbsent:
		return resource.OutcomeRefused, "the server has no claim, so nothing says what it boots"
	case claim == claimOff:
		return resource.OutcomeRefused, "its claim wants it Off"
	case claim == claimEnds:
		return resource.OutcomeRefused, endsWithClaim
	case held:
		return resource.OutcomeRefused, isHeld
	case taken:
		return resource.OutcomeRefused, isTaken
	case can == resumeNothing:
		return resource.OutcomeRefused, "nothing unexpected is known of it; a reboot stops and starts it"
	case can == resumeUnsaid:
		return resource.OutcomeRefused, "its claim has nothing to boot yet; the claim's conditions say what it waits for"
	case can == resumeStops:
		return resource.OutcomeRefused, needsStop
	case can == resumeBoot && !retry:
		return resource.OutcomeRefused, "a boot is under way"
	case can == resumeSpent && !retry:
		return resource.OutcomeRefused, "its first boot has used up the grant; with retry it is installed anew"
	}
	return resource.OutcomePending, ""
}

const (
	isHeld    = "the server is held"
	needsStop = "it would have to be stopped, which spec.disablePowerOff of the server forbids: it is to boot from the network, starts just now, or its BMC does not restart it in this mode"
)

// resumed is how far the boot has come that a resume has caused.
type resumed string

const (
	resumedNot    resumed = "none"   // nothing was begun yet
	resumedSent   resumed = "sent"   // it was, and an order sent or about to be
	resumedRuns   resumed = "runs"   // firmware took what it was to boot
	resumedFailed resumed = "failed" // after it was sent
)

// resumeFollow says what has become of an accepted resume. The first row that fits
// decides.
//
//	boot   | claim | held | cancel | late | limit | outcome
//	runs   | *     | *    | *      | *    | *     | done
//	failed | *     | *    | *      | *    | *     | unknown
//	sent   | *     | yes  | *      | *    | *     | unknown
//	sent   | *     | no   | *      | *    | yes   | unknown
//	sent   | *     | no   | *      | *    | no    | pending
//	none   | *     | *    | yes    | *    | *     | cancelled
//	none   | ends  | *    | *      | *    | *     | refused
//	none   | Off   | *    | *      | *    | *     | refused
//	none   | none  | *    | *      | *    | *     | refused
//	none   | On    | yes  | *      | *    | *     | refused
//	none   | On    | no   | *      | yes  | *     | expired
//	none   | On    | no   | *      | no   | yes   | unknown
//	none   | On    | no   | *      | no   | no    | pending
//
// What was sent is not sent again by itself: a boot that failed needs a look.
func resumeFollow(r resumed, claim claimed, held, cancel, late, limit bool) (resource.Outcome, string) {
	switch {
	case r == resumedRuns:
		return resource.OutcomeDone, ""
	case r == resumedFailed:
		return resource.OutcomeUnknown, "the boot failed"
	case r == resumedSent && held:
		return resource.OutcomeUnknown, isHeld
	case limit && (r == resumedSent || claim == claimOn && !held && !late && !cancel):
		return resource.OutcomeUnknown, "it did not end within " + requestLimit.String()
	case r == resumedSent:
		return resource.OutcomePending, ""
	case cancel:
		return resource.OutcomeCancelled, takenBack
	case claim != claimOn:
		return resource.OutcomeRefused, "its claim does not want it On any more"
	case held:
		return resource.OutcomeRefused, isHeld
	case late:
		return resource.OutcomeExpired, notBegun
	}
	return resource.OutcomePending, ""
}

// restartRule is the power that the table of attempts is asked with, of a boot by
// ForceRestart. The first row that fits decides.
//
//	restart | state          | power  | taken as
//	no      | *              | paused | other
//	yes     | Preparing      | on     | off
//	yes     | Preparing      | paused | off
//	yes     | Armed          | on     | off
//	yes     | Armed          | paused | off
//	yes     | *              | paused | on
//
// Where no row fits it is as it is. The override is written while the server stands in the shell or in a stop image, and
// the reset is sent by the same rules as On; from there on what firmware does counts.
func restartRule(restart bool, state resource.AttemptState, power running) running {
	before := state == resource.AttemptPreparing || state == resource.AttemptArmed
	switch {
	case !restart && power == isPaused:
		return isOther
	case restart && before && (power == isOn || power == isPaused):
		return isOff
	case power == isPaused:
		return isOn
	}
	return power
}

// isPaused is a server that its BMC shows Paused: in the EFI shell of a BlueField.
const isPaused running = "paused"

// powerOf is a power that was read as an attempt takes it.
func (a *Attempt) powerOf(read protocol.PowerState) running {
	power := runningOf(read)
	if read == protocol.PowerPaused {
		power = isPaused
	}
	return restartRule(a.Order.Restart, a.Stage.State, power)
}
