package decide

import "rackboot/protocol"

// askedBy is by which method firmware was seen to ask in an attempt.
type askedBy string

const (
	askedNot     askedBy = "not"
	askedOrdered askedBy = "ordered" // by the one that was ordered
	askedOther   askedBy = "other"
)

func askedOf(a *Attempt) askedBy {
	switch {
	case a.Observed != "":
	case a.Reach == protocol.ReachURI && a.URI: // it asks nobody of ours but for the file
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
func codeRule(state protocol.AttemptState, power running, has armed, refused bool, by askedBy) protocol.AttemptCode {
	switch state {
	case protocol.AttemptPreparing:
		switch {
		case power == isOn:
			return protocol.AttemptInterrupted
		case refused:
			return protocol.AttemptPostRefused
		}
		return protocol.AttemptNotStored
	case protocol.AttemptArmed:
		if power == isOn {
			return protocol.AttemptInterrupted
		}
		return protocol.AttemptReplaced
	case protocol.AttemptPowerRequested:
		switch {
		case has == armedOther:
			return protocol.AttemptReplaced
		case power == isOff && has == armedNone:
			return protocol.AttemptOutcomeUnknown
		case power == isOff:
			return protocol.AttemptPowerFailed
		case by == askedOther:
			return protocol.AttemptWrongMethod
		}
		return protocol.AttemptOverrideIgnored
	case protocol.AttemptConsumed:
		switch {
		case power == isOff:
			return protocol.AttemptInterrupted
		case by == askedNot:
			return protocol.AttemptNoDHCP
		case by == askedOrdered:
			return protocol.AttemptFetchFailed
		}
		return protocol.AttemptWrongMethod
	case protocol.AttemptFetched:
		return protocol.AttemptNoReport
	case protocol.AttemptSucceeded, protocol.AttemptFailed:
	}
	return protocol.AttemptOutcomeUnknown
}
