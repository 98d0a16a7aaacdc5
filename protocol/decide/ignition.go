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

// Ignition decides about a request by who has the token of an attempt.
func Ignition(held, missing bool, a *Attempt, token string, w Whose) IgnitionVerdict {
	s := ignitionNone
	switch {
	case a == nil || a.Order.Ignition == nil || token == "" || a.Token != token:
	case a.Stage.State == resource.AttemptSucceeded && a.Network():
		s = ignitionReported
	case accepting(a, token) && a.Network():
		if s = ignitionEarly; a.Marks.Served || a.Marks.Cached {
			s = ignitionOpen
		}
	}
	return ignitionRule(held || missing, s, a != nil && a.Claimants.Second != nil, w)
}

// ignitionStage is how far a boot with user data is.
type ignitionStage string

const (
	ignitionNone     ignitionStage = "none"  // no user data, or not the time for it
	ignitionEarly    ignitionStage = "early" // its kernel was not sent yet
	ignitionOpen     ignitionStage = "open"
	ignitionReported ignitionStage = "reported"
)

// ignitionRule is the table of requests for user data. The first row that fits decides.
//
//	boot     | held | disputed | address | verdict
//	none     | *    | *        | *       | closed
//	reported | *    | *        | *       | over
//	*        | yes  | *        | *       | closed
//	early    | no   | *        | *       | early
//	open     | no   | yes      | *       | disputed
//	open     | no   | no       | other   | stranger
//	open     | no   | no       | nobody  | stranger
//	open     | no   | no       | *       | give
//
// It is given as often as the server asks until it has reported: Ignition asks again
// when it loses the connection, and an installer may restart (design: repeats).
func ignitionRule(held bool, s ignitionStage, disputed bool, w Whose) IgnitionVerdict {
	switch {
	case s == ignitionNone:
		return IgnitionClosed
	case s == ignitionReported:
		return IgnitionOver
	case held:
		return IgnitionClosed
	case s == ignitionEarly:
		return IgnitionEarly
	case disputed:
		return IgnitionDisputed
	case w == WhoseOther || w == WhoseNobody:
		return IgnitionStranger
	}
	return IgnitionGive
}
