package decide

import "rackboot/protocol/resource"

// askedBy is by which method firmware was seen to ask in an attempt.
type askedBy string

const (
	askedNot     askedBy = "not"
	askedOrdered askedBy = "ordered" // by the one that was ordered
	askedOther   askedBy = "other"
)

func askedOf(a *Attempt) askedBy {
	switch {
	case a.Stage.Observed != "":
	case a.Order.Reach == resource.ReachURI && a.ByURL(): // it asks nobody of ours but for the file
		return askedOrdered
	default:
		return askedNot
	}
	if !a.mismatched() {
		return askedOrdered
	}
	return askedOther
}

// codeRule says in one word why attemptStep ended an attempt, by the state that it was
// in. The first row that fits decides.
//
//	state          | power | armed | refused | asked   | code
//	Preparing      | on    | *     | *       | *       | Interrupted
//	Preparing      | *     | *     | yes     | *       | PostRefused
//	Preparing      | *     | *     | no      | *       | OverrideNotStored
//	Armed          | on    | *     | *       | *       | Interrupted
//	Armed          | *     | *     | *       | *       | Replaced
//	PowerRequested | *     | other | *       | *       | Replaced
//	PowerRequested | off   | none  | *       | *       | OutcomeUnknown
//	PowerRequested | off   | *     | *       | *       | PowerFailed
//	PowerRequested | *     | *     | *       | other   | WrongMethod
//	PowerRequested | *     | *     | *       | *       | OverrideIgnored
//	Consumed       | off   | *     | *       | *       | Interrupted
//	Consumed       | *     | *     | *       | not     | NoDHCP
//	Consumed       | *     | *     | *       | ordered | FetchFailed
//	Consumed       | *     | *     | *       | other   | WrongMethod
//	Fetched        | *     | *     | *       | *       | NoReport
//	*              | *     | *     | *       | *       | OutcomeUnknown
//
// refused is that the BMC last said that it does not take an override in its state.
func codeRule(state resource.AttemptState, power running, has armed, refused bool, by askedBy) resource.AttemptCode {
	switch state {
	case resource.AttemptPreparing:
		switch {
		case power == isOn:
			return resource.AttemptInterrupted
		case refused:
			return resource.AttemptPostRefused
		}
		return resource.AttemptNotStored
	case resource.AttemptArmed:
		if power == isOn {
			return resource.AttemptInterrupted
		}
		return resource.AttemptReplaced
	case resource.AttemptPowerRequested:
		switch {
		case has == armedOther:
			return resource.AttemptReplaced
		case power == isOff && has == armedNone:
			return resource.AttemptOutcomeUnknown
		case power == isOff:
			return resource.AttemptPowerFailed
		case by == askedOther:
			return resource.AttemptWrongMethod
		}
		return resource.AttemptOverrideIgnored
	case resource.AttemptConsumed:
		switch {
		case power == isOff:
			return resource.AttemptInterrupted
		case by == askedNot:
			return resource.AttemptNoDHCP
		case by == askedOrdered:
			return resource.AttemptFetchFailed
		}
		return resource.AttemptWrongMethod
	case resource.AttemptFetched:
		return resource.AttemptNoReport
	case resource.AttemptSucceeded, resource.AttemptFailed:
	}
	return resource.AttemptOutcomeUnknown
}
