package guard

// Opens is what came of opening the store.
type Opens string

// What comes of it.
const (
	OpensWell     Opens = "opens"
	OpensConflict Opens = "conflict" // another process has it
	OpensNewer    Opens = "newer"    // a later release wrote it
	OpensNot      Opens = "fails"    // full, read only, damaged
)

// SetState is what there is of a guard set.
type SetState string

// What there may be.
const (
	SetNone    SetState = "none"
	SetWhole   SetState = "whole"
	SetDamaged SetState = "damaged"
)

// Identity compares the store's incarnation with those of the guard set.
type Identity string

// How they compare.
const (
	IdentitySame  Identity = "same"
	IdentityOther Identity = "other" // of a guard set that is damaged or none: any
	IdentityNone  Identity = "none"  // the store has none: it is new
	IdentityLess  Identity = "less"  // whatever it is of: it has less than it had, or not what was written
)

// Verdict is what becomes of a store at the start.
type Verdict string

// What becomes of it.
const (
	VerdictServe  Verdict = "serve"  // the agent is made over it
	VerdictGuard  Verdict = "guard"  // it is tried again; meanwhile the guard set is in its place
	VerdictLost   Verdict = "lost"   // the same, and it is not the agent's: somebody has to say so
	VerdictBegin  Verdict = "begin"  // the loss is accepted: a new one is begun
	VerdictRefuse Verdict = "refuse" // the agent does not start
)

// Found is what was found at the start.
type Found struct {
	Opens    Opens
	Set      SetState
	Identity Identity
	// Accepted says that somebody has accepted that the store is lost.
	Accepted bool
}

// Decide says what to make of a store and a guard set. The first row that fits decides.
//
//	opens    | set     | identity | accepted | verdict
//	conflict | *       | *        | *        | refuse
//	newer    | *       | *        | *        | refuse
//	fails    | *       | *        | no       | guard
//	fails    | *       | *        | yes      | begin
//	opens    | *       | less     | no       | lost
//	opens    | *       | less     | yes      | begin
//	opens    | none    | *        | *        | serve
//	opens    | whole   | same     | *        | serve
//	opens    | damaged | same     | *        | serve
//	opens    | damaged | other    | *        | serve
//	opens    | *       | *        | no       | lost
//	opens    | *       | *        | yes      | begin
//
// A guard set that is there, also a damaged one, says that the agent had a database: a new one
// in its place is not begun by itself.
func Decide(f Found) Verdict {
	switch {
	case f.Opens == OpensConflict, f.Opens == OpensNewer:
		return VerdictRefuse
	case f.Opens == OpensNot && !f.Accepted:
		return VerdictGuard
	case f.Opens == OpensNot:
		return VerdictBegin
	case f.Identity == IdentityLess && !f.Accepted:
		return VerdictLost
	case f.Identity == IdentityLess:
		return VerdictBegin
	case f.Set == SetNone, f.Identity == IdentitySame, f.Set == SetDamaged && f.Identity == IdentityOther:
		return VerdictServe
	case !f.Accepted:
		return VerdictLost
	}
	return VerdictBegin
}
