package decide

// IgnitionVerdict is what becomes of a request for a server's user data.
type IgnitionVerdict string

// The verdicts.
const (
	IgnitionGive     IgnitionVerdict = "give"
	IgnitionClosed   IgnitionVerdict = "closed"   // there is none, or the server may not boot now
	IgnitionOver     IgnitionVerdict = "over"     // the installation has been reported
	IgnitionStranger IgnitionVerdict = "stranger" // the address is not the server's
	IgnitionEarly    IgnitionVerdict = "early"    // no kernel was sent yet that could ask
	IgnitionDisputed IgnitionVerdict = "disputed" // two machines say that they are the server
	IgnitionOpenly   IgnitionVerdict = "openly"   // it goes through the BMC only
)

// IgnitionVerdicts lists the verdicts.
func IgnitionVerdicts() []IgnitionVerdict {
	return []IgnitionVerdict{IgnitionGive, IgnitionClosed, IgnitionOver, IgnitionStranger, IgnitionEarly, IgnitionDisputed, IgnitionOpenly}
}
