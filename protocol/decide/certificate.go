package decide

import (
	"time"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// CertificateGrace is how long after its certificate's end an agent may still renew,
// with its key alone.
const CertificateGrace = 365 * 24 * time.Hour

// CertificateSnapshot is what an agent knows of its certificate.
type CertificateSnapshot struct {
	NotBefore, NotAfter time.Time
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
	CertificateByKey  CertificateAction = "renew-by-key" // it has ended, or has not begun
	CertificateRejoin CertificateAction = "rejoin"       // an operator must give a token
)

// CertificatePlan is what to do, and what people are to be told.
type CertificatePlan struct {
	Action CertificateAction
	// Expiring is the condition CondCertificateExpiring.
	Expiring bool
}

// Certificate decides what to do about a certificate. now is the time that is believed;
// see [Clocks].
func Certificate(now time.Time, s CertificateSnapshot) CertificatePlan {
	a := ageOf(now, s)
	return CertificatePlan{
		Action:   certificateRule(s.Ended, a),
		Expiring: !s.Ended && (a == ageLate || a == ageEnded || a == ageLapsed),
	}
}

// CertificateSpan is how a certificate's life lies to the time that is believed.
type CertificateSpan string

// The spans.
const (
	SpanEarly CertificateSpan = "early" // it begins later: a clock was wrong when it was made
	SpanGood  CertificateSpan = "good"
	SpanEnded CertificateSpan = "ended"
)

// SpanOf is the span of a certificate.
func SpanOf(now, notBefore, notAfter time.Time) CertificateSpan {
	switch {
	case now.Add(ClockSlack).Before(notBefore):
		return SpanEarly
	case !now.Before(notAfter):
		return SpanEnded
	}
	return SpanGood
}

// CertificateUse is what becomes of a certificate that the hub has made.
type CertificateUse string

// The uses.
const (
	UseNext  CertificateUse = "take"
	UseSpare CertificateUse = "spare" // the present one stays; the new one is shown where that is refused
)

// NextCertificate is the table of certificates that the hub has made. The first row that
// fits decides.
//
//	now   | present | next | use
//	own   | good    | good | take
//	own   | good    | *    | spare
//	own   | *       | *    | take
//	floor | *       | *    | take
//	hub   | *       | *    | take
//
// A hub whose clock is wrong makes certificates that it refuses itself once its clock is
// right. Where the host's clock is believed, a good certificate is not given up for one of
// these.
func NextCertificate(now ClockSource, present, next CertificateSpan) CertificateUse {
	if now == ClockOwn && present == SpanGood && next != SpanGood {
		return UseSpare
	}
	return UseNext
}

// age is how much of a certificate's life is over.
type age string

const (
	ageEarly  age = "early" // it has not begun: a clock was wrong when it was made
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
	case lived < -ClockSlack:
		return ageEarly
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
//	no    | early  | renew-by-key
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
	case a == ageEnded || a == ageEarly:
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
func EndedBy(m message.EndOfTerm, agent string, term uint64) bool {
	switch {
	case m.Agent != agent, m.Term < term:
		return false
	default:
		return m.Code == resource.CondRevoked || m.Code == resource.CondSuperseded
	}
}
