package decide

import (
	"slices"

	"rackboot/protocol/resource"
)

// IgnitionVerdict is what becomes of a request for a server's user data.
type IgnitionVerdict string

// The verdicts.
const (
	IgnitionGive     IgnitionVerdict = "give"
	IgnitionClosed   IgnitionVerdict = "closed"   // there is none, or the server may not boot now
	IgnitionOver     IgnitionVerdict = "over"     // the installation has been reported
	IgnitionStranger IgnitionVerdict = "stranger" // the address is not the server's
)

// IgnitionVerdicts lists the verdicts.
func IgnitionVerdicts() []IgnitionVerdict {
	return []IgnitionVerdict{IgnitionGive, IgnitionClosed, IgnitionOver, IgnitionStranger}
}

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
	case a == nil || a.Ignition == nil || token == "" || a.Token != token:
	case a.State == resource.AttemptSucceeded && a.Network():
		s = ignitionReported
	case accepting(a, token) && a.Network():
		s = ignitionOpen
	}
	return ignitionRule(held || missing, s, w)
}

// ignitionStage is how far a boot with user data is.
type ignitionStage string

const (
	ignitionNone     ignitionStage = "none" // no user data, or not the time for it
	ignitionOpen     ignitionStage = "open"
	ignitionReported ignitionStage = "reported"
)

// ignitionRule is the table of requests for user data. The first row that fits decides.
//
//	boot     | held | address | verdict
//	none     | *    | *       | closed
//	reported | *    | *       | over
//	open     | yes  | *       | closed
//	open     | no   | other   | stranger
//	open     | no   | nobody  | stranger
//	open     | no   | *       | give
//
// It is given as often as the server asks until it has reported: Ignition asks again
// when it loses the connection, and an installer may restart (design: repeats).
func ignitionRule(held bool, s ignitionStage, w Whose) IgnitionVerdict {
	switch {
	case s == ignitionNone:
		return IgnitionClosed
	case s == ignitionReported:
		return IgnitionOver
	case held:
		return IgnitionClosed
	case w == WhoseOther || w == WhoseNobody:
		return IgnitionStranger
	}
	return IgnitionGive
}

// userData folds what happened to user data. A refusal is an event once for each reason
// and attempt, so that nobody fills the disk by asking.
func (p *step) userData(e Event) {
	a := p.rec.Attempt
	if a == nil || a.Ignition == nil || e.Token == "" || a.Token != e.Token {
		return
	}
	switch e.UserData {
	case IgnitionGive:
		if !a.Given {
			a.Given, p.dirty = true, true
		}
	case IgnitionOver, IgnitionStranger:
		if slices.Contains(a.Refusals, e.UserData) {
			return
		}
		a.Refusals, p.dirty = append(a.Refusals, e.UserData), true
		why := "asked for after the installation was reported"
		if e.UserData == IgnitionStranger {
			why = "asked for from an address that is not the server's"
		}
		p.happened(resource.EventUserDataRefused, "%s", why)
	case IgnitionClosed:
	default: // its last byte was sent
		a.Deliveries++
		p.dirty = true
		if a.Deliveries == 1 {
			p.happened(resource.EventUserDataDelivered, "version %d of secret %s", a.Ignition.Version, a.Ignition.Secret)
		}
	}
}
