package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/message"
)

// Mark is a document in force, or one that arrives: its version, and the digest of its signed bytes.
type Mark struct {
	Head   protocol.Head `json:"head"`
	Digest string        `json:"digest"`
}

// Arrival is what becomes of a document that arrives.
type Arrival string

// The arrivals.
const (
	ArrivalTaken  Arrival = "taken"  // it is newer, and is applied
	ArrivalKnown  Arrival = "known"  // it is in force, and is acknowledged again
	ArrivalOther  Arrival = "other"  // its version is in force, with another content
	ArrivalOlder  Arrival = "older"  // a newer one is in force
	ArrivalFenced Arrival = "fenced" // another hub has taken over from the one that signed it
	ArrivalAhead  Arrival = "ahead"  // the hub that signed it has not answered this agent yet
)

// Arrives compares a document that arrives with the one in force, found, and its fence with the one followed.
func Arrives(fence, followed message.Fence, doc, have Mark, found bool) Arrival {
	v := versionNewer
	switch {
	case !found || doc.Head.Newer(have.Head):
	case have.Head.Newer(doc.Head):
		v = versionOlder
	default:
		v = versionSame
	}
	return arrivalRule(fenceOf(fence, followed), v, doc.Digest == have.Digest)
}

// version is how a document's version stands to the one in force.
type version string

const (
	versionNewer version = "newer" // or there is none in force
	versionSame  version = "same"
	versionOlder version = "older"
)

// arrivalRule is the table of documents that arrive. The first row that fits decides.
//
//	fence | version | content | becomes
//	lower | *       | *       | fenced
//	rival | *       | *       | fenced
//	newer | *       | *       | ahead
//	same  | newer   | *       | taken
//	same  | older   | *       | older
//	same  | same    | same    | known
//	same  | same    | other   | other
func arrivalRule(f fenced, v version, same bool) Arrival {
	switch {
	case f == fencedLower, f == fencedRival:
		return ArrivalFenced
	case f == fencedNewer:
		return ArrivalAhead
	case v == versionNewer:
		return ArrivalTaken
	case v == versionOlder:
		return ArrivalOlder
	case same:
		return ArrivalKnown
	}
	return ArrivalOther
}

// HoldNext is what becomes of a hold by a newer document.
type HoldNext string

// What becomes of a hold.
const (
	HoldNothing HoldNext = "nothing" // it does not lie, and shall not
	HoldLies    HoldNext = "lies"    // it is enforced
	HoldMissing HoldNext = "missing" // it is enforced, and people are told
	HoldEnds    HoldNext = "ends"
)

// HoldAfter says what becomes of a hold by a newer document of the hub. The first row that fits decides.
//
//	lies | released | named | fits | becomes
//	yes  | yes      | *     | *    | ends
//	no   | yes      | *     | *    | nothing
//	*    | no       | yes   | yes  | lies
//	yes  | no       | *     | *    | missing
//	no   | no       | *     | *    | nothing
//
// released and named are what the document does, fits that it names the hold as it lies, or softer. Only an explicit
// release of its id ends a hold, never that a document leaves it out (P1).
func HoldAfter(lies, released, named, fits bool) HoldNext {
	switch {
	case lies && released:
		return HoldEnds
	case released:
		return HoldNothing
	case named && fits:
		return HoldLies
	case lies:
		return HoldMissing
	}
	return HoldNothing
}
