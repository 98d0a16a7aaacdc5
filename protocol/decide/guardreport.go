package decide

import "rackboot/protocol/resource"

// guardReportRule is what is told of a guard. The first row that fits decides.
//
//	held | kept | guard  | says
//	yes  | yes  | none   | Kept
//	*    | *    | none   | nothing
//	yes  | no   | known  | Writing
//	yes  | no   | set    | Set
//	yes  | no   | cannot | Refused
//	*    | *    | *      | Due
func guardReportRule(held, kept bool, g Guarding) resource.GuardState {
	switch {
	case g == GuardNone && held && kept:
		return resource.GuardKept
	case g == GuardNone:
		return ""
	case !held || kept:
		return resource.GuardDue
	case g == GuardKnown:
		return resource.GuardWriting
	case g == GuardSet:
		return resource.GuardSet
	}
	return resource.GuardRefused
}

// GuardReport is what is told of the power restore policy; nil where no hold has to do with it. kept says
// that the Server keeps its own.
func (r *Record) GuardReport(w Watch, holds []Hold, kept bool) *resource.GuardReport {
	out, state := resource.GuardReport{}, GuardNone
	if g := r.Guard; g != nil {
		state, out.Before, out.Why = g.State, g.Before, g.Why
	}
	if out.State = guardReportRule(len(holds) > 0, kept, state); out.State == "" {
		return nil
	}
	if w.Guard.Why != "" {
		out.Why = w.Guard.Why
	}
	return &out
}
