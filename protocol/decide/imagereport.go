package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Report decides about a report of a kind by who has the token of an attempt. pace is the
// server's.
func Report(a *Attempt, pace Pace, kind protocol.EvidenceKind, token string, w Whose, now time.Time) ReportVerdict {
	s := reportNone
	switch {
	case !a.knows(token) || !a.Network():
		return ReportUnknown
	case kind == protocol.EvidenceFailed && a.takesFailure(token):
		s = reportOpen
	case a.takesReport(token):
		s = reportOpen
		if a.Stage.State == resource.AttemptFetched && pace.tooSoon(a, now) {
			s = reportEarly
		}
	case accepting(a, token):
		s = reportEarly
	}
	if w == WhoseNobody && (a.ByURL() || byMedium(a.Order.Target)) {
		w = WhoseUnknown // it need not ask us, and its address may be from elsewhere
	}
	return reportRule(s, a.isPrivate(token), a != nil && a.Claimants.Second != nil, w)
}

// takesReport reports whether the attempt has come to where an image of it may report: its
// files were sent to their end. One that was ended after that is believed too: the report
// says what happened. A repeated report of a success changes nothing.
func (a *Attempt) takesReport(token string) bool {
	switch {
	case !a.knows(token) || !a.Network():
		return false
	case a.Stage.State == resource.AttemptSucceeded:
		return true
	case late(a, token):
		return a.Stage.Evidence == protocol.EvidenceFetched
	}
	return accepting(a, token) && (a.Stage.State == resource.AttemptFetched || a.Marks.Cached && !a.Stage.PowerOn.Sent.IsZero())
}

// takesFailure reports whether the attempt has come to where somebody may say that it cannot
// go on: its loader was sent to its end, and so may have found that the next file is not
// there, or wrong. It need not have taken any time: a failure proves nothing.
func (a *Attempt) takesFailure(token string) bool {
	return accepting(a, token) && a.Network() && (a.Marks.Loaded || a.takesReport(token))
}

// reportStage is how far the boot is of which a report comes.
type reportStage string

const (
	reportNone  reportStage = "none"  // there is none
	reportEarly reportStage = "early" // its files were not sent to their end, or only just
	reportOpen  reportStage = "open"
)

// reportRule is the table of reports. The first row that fits decides.
//
//	boot  | private | disputed | address | verdict
//	none  | *       | *        | *       | unknown
//	early | *       | *        | *       | early
//	open  | yes     | *        | *       | take
//	open  | no      | yes      | *       | disputed
//	open  | no      | no       | other   | stranger
//	open  | no      | no       | nobody  | stranger
//	open  | no      | no       | *       | take
//
// private is that the token went through the BMC: it says more than an address does.
// disputed is that two machines said they are the server, and both may be. Where somebody
// else leases addresses, whose one is cannot be told.
func reportRule(s reportStage, private, disputed bool, w Whose) ReportVerdict {
	switch {
	case s == reportNone:
		return ReportUnknown
	case s == reportEarly:
		return ReportEarly
	case private:
		return ReportTake
	case disputed:
		return ReportDisputed
	case w == WhoseOther || w == WhoseNobody:
		return ReportStranger
	}
	return ReportTake
}
