package access

import "slices"

// Caller is who sends a request: the owner of the holds that it places, and the "by"
// in records.
type Caller struct {
	Name  string
	Roles []Role
	Scope Scope
	// BreakGlass is the right to release what others hold, with a reason, for who may
	// release at all.
	BreakGlass bool
	// Issuer and Subject are who says that a person is that, and as whom it knows the person; empty for clients
	// of the hub's file.
	Issuer, Subject string
}

// Target is what an operation touches, by the places that it is in; see [Places]. The
// hub as a whole is in no place.
type Target struct {
	Places []Labels
}

// Verdict is whether somebody may do something.
type Verdict string

// The verdicts.
const (
	Allowed     Verdict = "allowed"
	DeniedRole  Verdict = "denied: role"
	DeniedScope Verdict = "denied: scope"
)

// May judges an operation on a target. Who may read a part of a target may read it;
// every other operation needs all of it. The first row of verdict that fits decides.
func May(c Caller, op Operation, t Target) Verdict {
	e := outside
	if !c.Scope.Everywhere() {
		e = c.Scope.extent(t.Places)
	}
	return verdict(MayAnywhere(c, op), c.Scope.Everywhere(), e, op)
}

// MayAnywhere says whether a role of the caller has the right to an operation, in its
// scope at least.
func MayAnywhere(c Caller, op Operation) bool {
	return slices.ContainsFunc(c.Roles, func(r Role) bool { return r.has(op) })
}

// verdict:
//
//	right | everywhere | target  | operation | verdict
//	no    | *          | *       | *         | denied: role
//	yes   | yes        | *       | *         | allowed
//	yes   | no         | inside  | *         | allowed
//	yes   | no         | partly  | read      | allowed
//	yes   | no         | *       | *         | denied: scope
func verdict(right, everywhere bool, e extent, op Operation) Verdict {
	switch {
	case !right:
		return DeniedRole
	case everywhere, e == inside, e == partly && op == Read:
		return Allowed
	}
	return DeniedScope
}
