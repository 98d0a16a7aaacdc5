package decide

import (
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// tardy is whether a request was not begun before its notAfter.
type tardy string

const (
	tardyNo     tardy = "no"
	tardyUnsent tardy = "unsent" // nothing was sent for it
	tardyAway   tardy = "away"   // an earlier run of the agent may have sent something
)

// ran is how a server that was stopped for a request runs again.
type ran string

const (
	ranNot   ran = "no"
	ranOurs  ran = "ours" // by our On
	ranOther ran = "other"
)

// followRule says what has become of an accepted request. The first row that fits
// decides.
//
//	action    | claim | held | stopped | cancel | late   | runs  | limit | outcome
//	power-off | *     | *    | yes     | *      | *      | *     | *     | done
//	*         | *     | *    | *       | yes    | *      | *     | *     | cancelled
//	reboot    | ends  | *    | yes     | *      | *      | *     | *     | done
//	*         | ends  | *    | *       | *      | *      | *     | *     | refused
//	*         | *     | *    | no      | *      | unsent | *     | *     | expired
//	*         | *     | *    | no      | *      | away   | *     | *     | unknown
//	power-off | On    | no   | no      | *      | *      | *     | *     | refused
//	reboot    | Off   | *    | yes     | *      | *      | *     | *     | done
//	reboot    | none  | *    | yes     | *      | *      | *     | *     | done
//	reboot    | On    | no   | yes     | *      | *      | other | *     | unknown
//	reboot    | On    | no   | yes     | *      | *      | ours  | *     | done
//	*         | *     | *    | *       | *      | *      | *     | yes   | unknown
//	*         | *     | *    | *       | *      | *      | *     | *     | pending
//
// cancel is that somebody takes it back and nothing was sent for it: a hold's stop goes on. stopped is that the server was read Off, by a read that was begun after the
// request was accepted: all requests that were accepted before that read end with
// one power cycle, whoever else caused the Off. A hold comes first: under it nothing
// is restored, and limit, which is requestLimit, does not run. What cannot be
// restored because no claim wants it is said so, and not silently (baremetal-operator
// deletes the annotation).
func followRule(action resource.RequestAction, claim claimed, held, stopped, cancel bool, late tardy, r ran, limit bool) (resource.Outcome, string) {
	off := action == resource.RequestPowerOff
	switch {
	case off && stopped:
		return resource.OutcomeDone, ""
	case cancel:
		return resource.OutcomeCancelled, takenBack
	case !off && stopped && claim == claimEnds:
		return resource.OutcomeDone, "not restored: the claim ends"
	case claim == claimEnds:
		return resource.OutcomeRefused, endsWithClaim
	case !stopped && late == tardyUnsent:
		return resource.OutcomeExpired, notBegun
	case !stopped && late == tardyAway:
		return resource.OutcomeUnknown, "the agent was away while the server was stopped"
	case off && claim == claimOn && !held:
		return resource.OutcomeRefused, wantsOn // since it was accepted
	case !off && stopped && claim == claimOff:
		return resource.OutcomeDone, "not restored: its claim wants it Off"
	case !off && stopped && claim == claimAbsent:
		return resource.OutcomeDone, "not restored: no claim says what it boots"
	case !off && stopped && !held && r == ranOther:
		// Nobody knows what it boots; an operator resumes it.
		return resource.OutcomeUnknown, "something else powered the server on"
	case !off && stopped && !held && r == ranOurs:
		return resource.OutcomeDone, ""
	case limit:
		return resource.OutcomeUnknown, "it did not end within " + requestLimit.String()
	}
	return resource.OutcomePending, ""
}

// claimOf is what the claim says to a request that was accepted.
func claimOf(s *RequestState, in *message.ServerIntent) claimed {
	if in != nil && s.OwnerUID != "" && (in.Releasing || in.Owner.UID != s.OwnerUID) {
		return claimEnds
	}
	return claimWants(wanted(in))
}
