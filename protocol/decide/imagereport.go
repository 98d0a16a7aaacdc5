package decide

import (
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// ReportVerdict is what becomes of a report of a booted image.
type ReportVerdict string

// The verdicts.
const (
	ReportTake     ReportVerdict = "take"
	ReportUnknown  ReportVerdict = "unknown"  // no boot has the token, or none that runs
	ReportEarly    ReportVerdict = "early"    // the image cannot run yet
	ReportStranger ReportVerdict = "stranger" // the address is not the server's
	ReportDisputed ReportVerdict = "disputed" // two machines say that they are the server
	ReportWeak     ReportVerdict = "weak"     // evidence of a stronger class is required
)

// ReportVerdicts lists the verdicts.
func ReportVerdicts() []ReportVerdict {
	return []ReportVerdict{ReportTake, ReportUnknown, ReportEarly, ReportStranger, ReportDisputed, ReportWeak}
}

// Report decides about a report by who has the token of an attempt. pace is the server's.
func Report(a *Attempt, pace Pace, token string, w Whose, now time.Time) ReportVerdict {
	s := reportNone
	switch {
	case !a.knows(token) || !a.Network():
		return ReportUnknown
	case a.takesReport(token):
		s = reportOpen
		if a.Stage.State == resource.AttemptFetched && pace.tooSoon(a, now) {
			s = reportEarly
		}
	case accepting(a, token):
		s = reportEarly
	}
	if w == WhoseNobody && (a.Order.Reach == resource.ReachURI || byMedium(a.Order.Target)) {
		w = WhoseUnknown // it asks nobody for its boot, and its address may be from elsewhere
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

// unheeded notes why a report was not heeded: an event once for each reason and attempt, so
// that nobody fills the disk by reporting.
func (he heard) unheeded(e Event) {
	a := he.d.rec.Attempt
	if !a.knows(e.Token) || slices.Contains(a.Marks.Unheeded, e.Report) {
		return
	}
	why, told := unheededFor[e.Report]
	if !told {
		return
	}
	a.Marks.Unheeded, he.d.dirty = append(a.Marks.Unheeded, e.Report), true
	he.d.happened(resource.EventReportRefused, "%s", why)
}

// unheededFor says why a report was not heeded.
var unheededFor = map[ReportVerdict]string{
	ReportEarly:    "it came before the image can have run",
	ReportStranger: "it came from an address that is not the server's",
	ReportDisputed: "another machine says that it is the server too",
	ReportWeak:     "it came over the boot segment, and observed evidence is required",
}

// claimed notes a boot client that says it is the server of the attempt.
func (he heard) claimed(e Event) {
	a := he.d.rec.Attempt
	if a == nil || !accepting(a, e.Token) || !a.Claimants.Note(e.Claimed, e.Claimant) {
		return
	}
	he.d.dirty = true
	if e.Claimed == ClaimedSecond || e.Claimed == ClaimedForeign {
		he.d.happened(resource.EventTwoClaimants, "%s", a.Claimants.words())
	}
}

// disputed says while the attempt is the server's last that another machine said it is the
// server. Of one that ended well that is news for disputedFor.
func (co conditions) disputed() {
	a := co.d.rec.Attempt
	words := a.disputes()
	if words == "" || a.Stage.State == resource.AttemptSucceeded && co.d.now.Sub(a.Stage.Since) >= disputedFor {
		return
	}
	co.d.raise(resource.CondTwoClaimants, "%s", words)
	if a.Stage.State == resource.AttemptSucceeded {
		co.d.recheckAt(a.Stage.Since.Add(disputedFor))
	}
}

// weak says while a boot waits for a report of a stronger class that a weaker one came.
func (co conditions) weak() {
	if a := co.d.rec.Attempt; a != nil && a.Stage.State != resource.AttemptSucceeded && slices.Contains(a.Marks.Unheeded, ReportWeak) {
		co.d.raise(resource.CondEvidenceWeak, "")
	}
}

func (a *Attempt) disputes() string {
	if a == nil {
		return ""
	}
	return a.Claimants.words()
}

// disputedFor is how long it is said of a boot that ended well.
const disputedFor = time.Hour
