package decide

import "time"

// TrialWindow is how long segments that a document changed are tried without a word
// of the hub, before those that were served with it in contact are served again.
const TrialWindow = 2 * time.Minute

// SegmentTrial is what an agent keeps of its rack's segments. Each is named by the
// digest of its content; empty is none.
type SegmentTrial struct {
	Confirmed string `json:"confirmed"`       // last in force with the hub in contact
	Tried     string `json:"tried,omitempty"` // in force until the hub is heard, or time is over
	Refused   string `json:"refused,omitempty"`
	// Spent is for how long the agent ran without the hub since Tried came into force.
	Spent time.Duration `json:"spent,omitempty"`
}

// SegmentAction is what to do about a rack's segments.
type SegmentAction string

// The actions.
const (
	SegmentsServe   SegmentAction = "serve"   // in force, without a trial
	SegmentsTry     SegmentAction = "try"     // in force, on trial from now on
	SegmentsWait    SegmentAction = "wait"    // the trial goes on
	SegmentsRefuse  SegmentAction = "refuse"  // what is in force stays
	SegmentsConfirm SegmentAction = "confirm" // the trial has ended well
	SegmentsBack    SegmentAction = "back"    // what was confirmed is in force again
	SegmentsLeave   SegmentAction = "leave"   // there is nothing to decide
)

// OfferSegments decides about segments that a document brings; digest is not empty.
func OfferSegments(t SegmentTrial, digest string) (SegmentAction, SegmentTrial) {
	o := offeredOther
	switch digest {
	case t.Tried:
		o = offeredTried
	case t.Confirmed:
		o = offeredConfirmed
	case t.Refused:
		o = offeredRefused
	}
	if t.Confirmed == "" {
		o = offeredFirst
	}
	act := segmentsRule(o, t.Tried != "", false, false)
	switch act {
	case SegmentsServe:
		t = SegmentTrial{Confirmed: digest}
	case SegmentsTry:
		t = SegmentTrial{Confirmed: t.Confirmed, Tried: digest}
	case SegmentsWait, SegmentsRefuse, SegmentsConfirm, SegmentsBack, SegmentsLeave:
	}
	return act, t
}

// LookAtSegments decides about a trial after the agent ran for a while more. heard
// says that the hub was, by a word that it can only have said after the change. left
// is what remains of the window.
func LookAtSegments(t SegmentTrial, ran, window time.Duration, heard bool) (act SegmentAction, after SegmentTrial, left time.Duration) {
	spent := t.Spent + max(0, ran)
	act = segmentsRule(offeredNothing, t.Tried != "", heard, spent >= window)
	switch act {
	case SegmentsConfirm:
		return act, SegmentTrial{Confirmed: t.Tried}, 0
	case SegmentsBack:
		return act, SegmentTrial{Confirmed: t.Confirmed, Refused: t.Tried}, 0
	case SegmentsWait:
		t.Spent = spent
		return act, t, window - spent
	case SegmentsServe, SegmentsTry, SegmentsRefuse, SegmentsLeave:
	}
	return act, t, 0
}

// offered is what segments that a document brings are to those that are kept.
type offered string

const (
	offeredNothing   offered = "nothing"   // no document came
	offeredFirst     offered = "first"     // none were ever in force
	offeredConfirmed offered = "confirmed" // those, whatever is tried
	offeredTried     offered = "tried"
	offeredRefused   offered = "refused" // rolled back, and nothing else came since
	offeredOther     offered = "other"
)

// segmentsRule is the table of segments. The first row that fits decides.
//
//	offered   | trial | heard | time | action
//	first     | *     | *     | *    | serve
//	confirmed | *     | *     | *    | serve
//	tried     | *     | *     | *    | wait
//	refused   | *     | *     | *    | refuse
//	other     | *     | *     | *    | try
//	nothing   | no    | *     | *    | leave
//	nothing   | yes   | yes   | *    | confirm
//	nothing   | yes   | no    | over | back
//	nothing   | yes   | no    | left | wait
//
// The first ever are not tried: there is nothing to go back to. A document is the
// hub's word too, but one that it said before the change was in force, so that it
// confirms nothing. A refusal is of one content and ends with the next.
func segmentsRule(o offered, trial, heard, over bool) SegmentAction {
	switch {
	case o == offeredFirst, o == offeredConfirmed:
		return SegmentsServe
	case o == offeredTried:
		return SegmentsWait
	case o == offeredRefused:
		return SegmentsRefuse
	case o == offeredOther:
		return SegmentsTry
	case !trial:
		return SegmentsLeave
	case heard:
		return SegmentsConfirm
	case over:
		return SegmentsBack
	default:
		return SegmentsWait
	}
}
