package plan

// Releasing is what becomes of somebody's wish to release a hold, or to say that its
// server is down.
type Releasing string

// The outcomes.
const (
	ReleaseOwn    Releasing = "as its owner"
	ReleaseForced Releasing = "by breaking glass"
	ReleaseAsk    Releasing = "denied: no reason"
	ReleaseDenied Releasing = "denied: no right"
)

// MayRelease judges it by who asks. Releasing what is released changes nothing and is
// not judged.
//
//	by its owner | reason | right to break glass | outcome
//	yes          | *      | *                    | as its owner
//	no           | *      | no                   | denied: no right
//	no           | no     | yes                  | denied: no reason
//	no           | yes    | yes                  | by breaking glass
func MayRelease(owner, reason, right bool) Releasing {
	switch {
	case owner:
		return ReleaseOwn
	case !right:
		return ReleaseDenied
	case !reason:
		return ReleaseAsk
	}
	return ReleaseForced
}
