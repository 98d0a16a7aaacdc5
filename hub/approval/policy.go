package approval

import (
	"slices"

	"rackboot/protocol/resource"
)

// MaxApprovers is how many people a policy can ask for.
const MaxApprovers = 2

// Policy says how many people must grant an approval, by class. A class that it does
// not name needs one, and needs no approval of a release where the rack's agent knows no
// destructive key.
type Policy map[resource.ApprovalClass]int

// Approvers is how many people must grant an approval of the class: 1 or 2.
func (p Policy) Approvers(class resource.ApprovalClass) int {
	return min(max(p[class], 1), MaxApprovers)
}

// Wants says whether an action of the class waits for an approval. key is that the
// rack's agent knows a destructive key.
//
//	key | named | outcome
//	yes | *     | waits
//	no  | yes   | waits
//	no  | no    | goes
func (p Policy) Wants(class resource.ApprovalClass, key bool) bool { return key || p[class] > 0 }

// Verdict is what becomes of somebody's wish to grant.
type Verdict string

// The verdicts.
const (
	GrantDone   Verdict = "granted"
	GrantMore   Verdict = "granted, one more is needed"
	GrantAgain  Verdict = "was granted by the same"
	GrantOver   Verdict = "conflict: over"
	GrantStale  Verdict = "conflict: changed since it was read"
	GrantRight  Verdict = "denied: no right"
	GrantItself Verdict = "denied: asked for it"
)

// grantRule judges a wish to grant. The first row that fits decides.
//
//	right | state   | read  | again | last | asked | verdict
//	no    | *       | *     | *     | *    | *     | denied: no right
//	yes   | over    | *     | *     | *    | *     | conflict: over
//	yes   | granted | *     | *     | *    | *     | was granted by the same
//	yes   | pending | stale | *     | *    | *     | conflict: changed since it was read
//	yes   | pending | now   | yes   | *    | *     | was granted by the same
//	yes   | pending | now   | no    | no   | *     | granted, one more is needed
//	yes   | pending | now   | no    | sole | *     | granted
//	yes   | pending | now   | no    | yes  | yes   | denied: asked for it
//	yes   | pending | now   | no    | yes  | no    | granted
//
// last is yes where it would be the second of two grants, and sole where one is
// enough: who asked for the action may grant that one, or the first of two, and never
// the second. A grant of what is granted already asks for the signature again.
func grantRule(right bool, state step, stale, again bool, last last, asked bool) Verdict {
	switch {
	case !right:
		return GrantRight
	case state == stepOver:
		return GrantOver
	case state == stepGranted:
		return GrantAgain
	case stale:
		return GrantStale
	case again:
		return GrantAgain
	case last == lastNo:
		return GrantMore
	case last == lastYes && asked:
		return GrantItself
	}
	return GrantDone
}

type step string

const (
	stepPending step = "pending"
	stepGranted step = "granted"
	stepOver    step = "over"
)

type last string

const (
	lastNo   last = "no"
	lastSole last = "sole"
	lastYes  last = "yes"
)

// MayGrant judges a wish to grant r, as it was at the version read.
func MayGrant(r resource.ApprovalRequest, version int, by string, right bool) Verdict {
	s := stepOver
	switch r.State {
	case resource.ApprovalPending:
		s = stepPending
	case resource.ApprovalGranted, resource.ApprovalApproved:
		s = stepGranted
	case resource.ApprovalDenied, resource.ApprovalExpired, resource.ApprovalEnded:
	}
	l := lastNo
	switch {
	case r.Approvers <= 1:
		l = lastSole
	case len(r.By)+1 >= r.Approvers:
		l = lastYes
	}
	return grantRule(right, s, version != r.Version, slices.Contains(r.By, by), l, slices.Contains(r.Asked, by))
}
