package access

import "slices"

// Role is a set of rights.
type Role string

// The roles.
const (
	Viewer   Role = "viewer"   // sees what is no secret
	Operator Role = "operator" // says what servers boot, and takes hardware in
	Fencer   Role = "fencer"   // stops servers, and lets go of them
	Admin    Role = "admin"    // may do everything
)

// Roles lists the roles.
func Roles() []Role { return []Role{Viewer, Operator, Fencer, Admin} }

// DefaultRoles are those of a client that names none: all but the admin's.
func DefaultRoles() []Role { return []Role{Viewer, Operator, Fencer} }

// has says whether a role has the right to an operation. The first row that fits
// decides.
//
//	role     | operation | may
//	admin    | *         | yes
//	*        | read      | yes
//	operator | apply     | yes
//	operator | delete    | yes
//	operator | accept    | yes
//	operator | firmware  | yes
//	fencer   | hold      | yes
//	fencer   | release   | yes
//	fencer   | confirm   | yes
//	fencer   | request   | yes
//	*        | *         | no
func (r Role) has(op Operation) bool {
	switch r {
	case Admin:
		return true
	case Operator:
		return slices.Contains([]Operation{Read, Apply, Delete, Accept, Firmware}, op)
	case Fencer:
		return slices.Contains([]Operation{Read, Hold, Release, Confirm, Request}, op)
	case Viewer:
		return op == Read
	}
	return false
}
