package decide

// Voiding is why a receipt counts no more, although nothing was seen to run.
type Voiding string

const (
	voidNo  Voiding = "no"
	voidRun Voiding = "run" // an earlier run of the agent has read it
	voidGap Voiding = "gap" // the server was not read for too long
	// What was read in guard mode could not be recorded; see [overlays.fold].
	voidGuard Voiding = "guard"
)

// Voidings lists the reasons.
func Voidings() []Voiding { return []Voiding{voidRun, voidGap, voidGuard} }

// voidRule says whether a receipt still counts. The first row that fits decides.
//
//	run     | unread | void
//	another | *      | run
//	this    | beyond | gap
//	this    | within | no
//
// What was read before the agent started again is of the past: between its end and its start
// nobody looked, and what it saw last may not have come to disk. unread is how long it is
// since the last read of Off was sent, compared with the bound.
func voidRule(this, within bool) Voiding {
	switch {
	case !this:
		return voidRun
	case !within:
		return voidGap
	}
	return voidNo
}
