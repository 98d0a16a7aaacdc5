package decide

import (
	"time"

	"rackboot/protocol"
)

// proof is what says that a held server does not run.
type proof string

const (
	proofNone  proof = "none"
	proofReads proof = "proof"  // a receipt from reads (P3)
	proofWord  proof = "manual" // an operator's word: no proof
)

// proof is what there is for a hold.
func (r *Record) proof(id string) proof {
	if _, ok := r.Holds.Receipts[id]; ok {
		return proofReads
	}
	if _, ok := r.Holds.Manual[id]; ok {
		return proofWord
	}
	return proofNone
}

// sight is what matters of the reads to an operator's word.
type sight string

const (
	sightUnread  sight = "unread"  // nothing was read since the agent started
	sightUnknown sight = "unknown" // the BMC answers without a power state, or has just gone silent
	sightSilent  sight = "silent"  // the BMC has not answered for the settle window
	sightOff     sight = "off"
	sightRuns    sight = "runs"
)

func sightOf(r *Record, w *Watch, now time.Time, settle time.Duration) sight {
	switch w.Last.Power {
	case "":
		return sightUnread
	case protocol.PowerUnreachable:
		if s := w.SilentSince; !s.IsZero() && now.Sub(s) >= settle {
			return sightSilent
		}
		return sightUnknown
	case protocol.PowerUnknown:
		return sightUnknown
	case protocol.PowerOff:
		return sightOff
	case protocol.PowerOn, protocol.PowerPoweringOn, protocol.PowerPoweringOff, protocol.PowerPaused:
	}
	if r.Shown.Power == protocol.PowerOff {
		return sightUnknown // see notYetOff
	}
	return sightRuns
}

// taken is what becomes of an operator's word.
type taken string

const (
	takenNot  taken = "no"
	takenNow  taken = "yes"
	takenKept taken = "kept"
	takenGone taken = "gone" // a proof is there
	takenVoid taken = "void"
)

// confirmRule says what becomes of an operator's word that a held server is down.
// The first row that fits decides.
//
//	sight  | have   | answer
//	*      | proof  | gone
//	runs   | manual | void
//	*      | manual | kept
//	silent | none   | yes
//	*      | none   | no
//
// While the BMC answers, it is asked and not the operator; one read that failed is
// not yet a BMC that does not answer.
func confirmRule(s sight, have proof) taken {
	switch {
	case have == proofReads:
		return takenGone
	case have == proofWord && s == sightRuns:
		return takenVoid
	case have == proofWord:
		return takenKept
	case s == sightSilent:
		return takenNow
	}
	return takenNot
}
