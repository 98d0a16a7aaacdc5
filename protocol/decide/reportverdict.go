package decide

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
	// ReportUnattested: the server's TPM has to have proved the boot, and has not.
	ReportUnattested ReportVerdict = "unattested"
)

// ReportVerdicts lists the verdicts.
func ReportVerdicts() []ReportVerdict {
	return []ReportVerdict{ReportTake, ReportUnknown, ReportEarly, ReportStranger, ReportDisputed, ReportWeak, ReportUnattested}
}
