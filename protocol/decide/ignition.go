package decide

import "rackboot/protocol/resource"

// Whose says whose the address is that a request came from.
type Whose string

// The values.
const (
	WhoseOwn     Whose = "own"     // the agent leases it to the server
	WhoseOther   Whose = "other"   // the agent leases it to another machine
	WhoseNobody  Whose = "nobody"  // the agent leases the segment's addresses, and not this one
	WhoseUnknown Whose = "unknown" // somebody else leases addresses too
)

// Ignition decides about a request by who has the token of an attempt. sealed is that it came
// by HTTPS.
func Ignition(held, missing bool, a *Attempt, token string, w Whose, sealed bool) IgnitionVerdict {
	s := ignitionNone
	switch {
	case !a.knows(token) || a.Order.Ignition == nil:
	case a.Stage.State == resource.AttemptSucceeded && a.Network():
		s = ignitionReported
	case accepting(a, token) && a.Network():
		if s = ignitionEarly; a.Marks.Served || a.Marks.Cached {
			s = ignitionOpen
		}
	}
	by := ignitionSegment
	switch {
	case a.isPrivate(token) && sealed:
		by = ignitionPrivate
	case a != nil && a.Order.Secrets == resource.SecretsBMC:
		by = ignitionOpenly
	}
	return ignitionRule(held || missing, s, by, a != nil && a.Claimants.Second != nil, w)
}

// ignitionStage is how far a boot with user data is.
type ignitionStage string

const (
	ignitionNone     ignitionStage = "none"  // no user data, or not the time for it
	ignitionEarly    ignitionStage = "early" // its kernel was not sent yet
	ignitionOpen     ignitionStage = "open"
	ignitionReported ignitionStage = "reported"
)

// ignitionBy is how user data is asked for.
type ignitionBy string

const (
	ignitionPrivate ignitionBy = "private"
	ignitionSegment ignitionBy = "segment"
	ignitionOpenly  ignitionBy = "openly"
)

// ignitionRule is the table of requests for user data. The first row that fits decides.
//
//	boot     | held | by      | disputed | address | verdict
//	none     | *    | *       | *        | *       | closed
//	reported | *    | *       | *        | *       | over
//	*        | yes  | *       | *        | *       | closed
//	early    | no   | *       | *        | *       | early
//	open     | no   | private | *        | *       | give
//	open     | no   | openly  | *        | *       | openly
//	open     | no   | segment | yes      | *       | disputed
//	open     | no   | segment | no       | other   | stranger
//	open     | no   | segment | no       | nobody  | stranger
//	open     | no   | segment | no       | *       | give
//
// by is how it is asked for: by the token that went through the BMC and by HTTPS, by the
// boot segment as somebody chose, or openly although it goes through the BMC only.
// It is given as often as the server asks until it has reported: Ignition asks again
// when it loses the connection, and an installer may restart (design: repeats).
func ignitionRule(held bool, s ignitionStage, by ignitionBy, disputed bool, w Whose) IgnitionVerdict {
	switch {
	case s == ignitionNone:
		return IgnitionClosed
	case s == ignitionReported:
		return IgnitionOver
	case held:
		return IgnitionClosed
	case s == ignitionEarly:
		return IgnitionEarly
	case by == ignitionPrivate:
		return IgnitionGive
	case by == ignitionOpenly:
		return IgnitionOpenly
	case disputed:
		return IgnitionDisputed
	case w == WhoseOther || w == WhoseNobody:
		return IgnitionStranger
	}
	return IgnitionGive
}
