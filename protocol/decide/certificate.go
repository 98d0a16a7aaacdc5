package decide

import (
	"time"

	"rackboot/protocol"
)

// CertificateGrace is how long after its certificate's end an agent may still renew,
// with its key alone.
const CertificateGrace = 365 * 24 * time.Hour

// CertificateSnapshot is what an agent knows of its certificate.
type CertificateSnapshot struct {
	NotBefore, NotAfter time.Time
	// Floor is the latest time that the agent has believed; zero is none.
	Floor time.Time
	// Jitter is in [0,1) and the agent's own, so that a fleet does not renew together.
	Jitter float64
	// Ended says that the hub has ended the agent's term.
	Ended bool
}

// CertificateAction is what to do about a certificate.
type CertificateAction string

// The actions.
const (
	CertificateKeep   CertificateAction = "keep"
	CertificateRenew  CertificateAction = "renew"        // with certificate and key
	CertificateByKey  CertificateAction = "renew-by-key" // it has ended
	CertificateRejoin CertificateAction = "rejoin"       // an operator must give a token
)

// CertificatePlan is what to do, and what people are to be told.
type CertificatePlan struct {
	Action CertificateAction
	// Now is the time that is believed: the clock's, or the floor where the clock is
	// behind it.
	Now time.Time
	// Behind and Expiring are the conditions CondClockBehind and CondCertificateExpiring.
	Behind, Expiring bool
}

// clockSlack is how far a clock may be behind the latest time that was believed: two
// clocks are never the same.
const clockSlack = 2 * time.Minute

// Certificate decides what to do about a certificate at the time of the clock. The
// certificate's beginning is a time of the hub's, so it counts as a floor too.
func Certificate(clock time.Time, s CertificateSnapshot) CertificatePlan {
	p := CertificatePlan{Now: clock}
	for _, floor := range []time.Time{s.Floor, s.NotBefore} {
		if floor.After(p.Now) {
			p.Now = floor
		}
	}
	p.Behind = p.Now.Sub(clock) > clockSlack
	a := ageOf(p.Now, s)
	p.Action = certificateRule(s.Ended, a)
	p.Expiring = !s.Ended && (a == ageLate || a == ageEnded || a == ageLapsed)
	return p
}

// age is how much of a certificate's life is over.
type age string

const (
	ageFresh  age = "fresh"
	ageDue    age = "due"    // two thirds, and up to a twentieth more
	ageLate   age = "late"   // five sixths: several renewals have failed
	ageEnded  age = "ended"  // and within the grace
	ageLapsed age = "lapsed" // the grace too
)

func ageOf(now time.Time, s CertificateSnapshot) age {
	life := s.NotAfter.Sub(s.NotBefore)
	due := life*2/3 + time.Duration(s.Jitter*float64(life/20))
	switch lived := now.Sub(s.NotBefore); {
	case lived >= life+CertificateGrace:
		return ageLapsed
	case lived >= life:
		return ageEnded
	case lived >= life*5/6:
		return ageLate
	case lived >= due:
		return ageDue
	}
	return ageFresh
}

// certificateRule is the table of renewal. The first row that fits decides.
//
//	ended | age    | action
//	yes   | *      | rejoin
//	no    | fresh  | keep
//	no    | due    | renew
//	no    | late   | renew
//	no    | ended  | renew-by-key
//	no    | lapsed | rejoin
func certificateRule(ended bool, a age) CertificateAction {
	switch {
	case ended:
		return CertificateRejoin
	case a == ageFresh:
		return CertificateKeep
	case a == ageEnded:
		return CertificateByKey
	case a == ageLapsed:
		return CertificateRejoin
	default:
		return CertificateRenew
	}
}

// EndedBy says whether a word ends the term of this agent. The first row that fits
// decides.
//
//	agent | term   | code  | ends
//	other | *      | *     | no
//	mine  | older  | *     | no
//	mine  | *      | known | yes
//	mine  | *      | other | no
//
// A word of an older term than the agent knows cannot be about it; one of a newer
// term can: the agent has not seen a document of it.
func EndedBy(m protocol.EndOfTerm, agent string, term uint64) bool {
	switch {
	case m.Agent != agent, m.Term < term:
		return false
	default:
		return m.Code == protocol.CondRevoked || m.Code == protocol.CondSuperseded
	}
}
