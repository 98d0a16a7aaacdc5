package decide

import "time"

// unguardTries is how often a policy is put back in vain before the server is powered
// on all the same: a BMC that refuses it must not keep the server off for ever.
const unguardTries = 4

// guardRoom is how much time there must be before the next read counts toward a
// receipt; else the guard waits for the receipt.
const guardRoom = 500 * time.Millisecond

// guardRule is the table of guards. held is by a hold under which the Server does not keep its own
// policy. The first row that fits decides.
//
//	held | guard  | before | answer
//	yes  | none   | *      | read-restore-policy
//	yes  | known  | *      | guard
//	yes  | *      | *      | none
//	no   | none   | *      | none
//	no   | *      | other  | unguard
//	no   | *      | *      | forget
//
// forget is no action: there is nothing to put back. before is other where it is known and not AlwaysOff. A guard that was refused is put
// back too: a BMC may refuse a write and keep it.
func guardRule(held bool, g Guarding, other bool) (k ActionKind, forget bool) {
	switch {
	case held && g == GuardNone:
		return ActReadPolicy, false
	case held && g == GuardKnown:
		return ActGuard, false
	case held, g == GuardNone:
		return ActNone, false
	case other:
		return ActUnguard, false
	}
	return ActNone, true
}

// unproved says whether a hold is without a receipt from reads.
func (r *Record) unproved(holds []Hold) bool {
	for _, h := range holds {
		if r.proof(h.ID) != proofReads {
			return true
		}
	}
	return false
}
