package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// askedBy is by which method firmware was seen to ask in an attempt.
type askedBy string

const (
	askedNot     askedBy = "not"
	askedOrdered askedBy = "ordered" // by the one that was ordered
	askedHTTP    askedBy = "http"    // by UEFI HTTP boot where PXE was ordered
	askedPXE     askedBy = "pxe"     // by PXE where UEFI HTTP boot was ordered
	askedOther   askedBy = "other"   // from the network where it was to boot something else
)

func askedOf(a *Attempt) askedBy {
	switch {
	case a.Stage.Observed != "":
	case a.Order.Reach == resource.ReachURI && a.ByURL(): // it asks nobody of ours but for the file
		return askedOrdered
	default:
		return askedNot
	}
	switch by := methodNameOf(a.Stage.Observed); {
	case !a.mismatched():
		return askedOrdered
	case by == "http" && a.Order.Target == protocol.TargetPxe:
		return askedHTTP
	case by == "pxe" && a.Order.Target == protocol.TargetUefiHTTP:
		return askedPXE
	}
	return askedOther
}

// otherMethod says by what firmware asked that booted by another method than it may.
var otherMethod = map[askedBy]resource.AttemptCode{
	askedHTTP:  resource.AttemptAskedByHTTP,
	askedPXE:   resource.AttemptAskedByPXE,
	askedOther: resource.AttemptWrongMethod,
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
//	PowerRequested | *     | *     | *       | http    | AskedByHTTP
//	PowerRequested | *     | *     | *       | pxe     | AskedByPXE
//	PowerRequested | *     | *     | *       | other   | WrongMethod
//	PowerRequested | *     | *     | *       | *       | OverrideIgnored
//	Consumed       | off   | *     | *       | *       | Interrupted
//	Consumed       | *     | *     | *       | not     | NoDHCP
//	Consumed       | *     | *     | *       | ordered | FetchFailed
//	Consumed       | *     | *     | *       | http    | AskedByHTTP
//	Consumed       | *     | *     | *       | pxe     | AskedByPXE
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
		case otherMethod[by] != "":
			return otherMethod[by]
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
		return otherMethod[by]
	case resource.AttemptFetched:
		return resource.AttemptNoReport
	case resource.AttemptSucceeded, resource.AttemptFailed:
	}
	return resource.AttemptOutcomeUnknown
}
