package decide

import (
	"time"

	"rackboot/protocol"
)

// reply is what matters of the answer to a write that disarms.
type reply string

const (
	replyNever  reply = "never"  // refused for good, or answered with success and not done
	replyState  reply = "state"  // refused in the present state
	replySilent reply = "silent" // no answer, or a pause was asked for
)

// disarmTries is how often a way is tried that is refused in the present state.
const disarmTries = 5

// disarmRule is the way after one that failed. The first row that fits decides.
//
//	way      | answer | many | disk | next
//	disabled | silent | *    | *    | disabled
//	none     | silent | *    | *    | none
//	hdd      | silent | *    | *    | hdd
//	disabled | state  | no   | *    | disabled
//	none     | state  | no   | *    | none
//	hdd      | state  | no   | *    | hdd
//	disabled | *      | *    | *    | none
//	none     | *      | *    | no   | hdd
//	*        | *      | *    | *    | leave
//
// many is that the way was tried disarmTries times, disk that the override is one to the
// disk already. A BMC that gives no answer is not known to refuse.
func disarmRule(way DisarmWay, is reply, many, disk bool) DisarmWay {
	switch {
	case way == DisarmLeave:
		return DisarmLeave
	case is == replySilent, is == replyState && !many:
		return way
	case way == DisarmDisabled:
		return DisarmNone
	case way == DisarmNone && !disk:
		return DisarmHdd
	}
	return DisarmLeave
}

// replyOf reads the answer to a write that disarms, which failed.
func replyOf(r Result) reply {
	switch {
	case r.Fault.Kind == protocol.FaultPrecondition:
		return replyNever
	case r.Busy, r.Code == protocol.CodeTimeout, r.Code == protocol.CodeUnavailable, r.Code == protocol.CodeInternal, r.Code == protocol.CodeDenied:
		return replySilent
	case r.Code == protocol.CodeConflict:
		return replyState
	}
	return replyNever
}

// override is what a way writes.
func (w DisarmWay) override() protocol.Override {
	switch w {
	case DisarmNone:
		return protocol.Override{Target: protocol.TargetNone}
	case DisarmHdd:
		return protocol.Override{Target: protocol.TargetHdd, Enabled: protocol.OverrideOnce, Mode: "UEFI"}
	case DisarmDisabled, DisarmLeave:
	}
	return protocol.Override{Target: protocol.TargetNone, Enabled: protocol.OverrideDisabled}
}

// done says whether the answer to a write of this way shows what it wants.
func (w DisarmWay) done(r Result) bool {
	if w == DisarmHdd {
		return r.Code == "" && r.Outcome.OK() && r.Stored.Target == protocol.TargetHdd
	}
	return r.Code == "" && !r.Stored.Armed()
}

// isLeft says whether all was tried to take away the override that the BMC holds.
func (r *Record) isLeft(o protocol.Override) bool {
	l := r.Residue.Kept()
	return l != nil && (l.Hidden || l.Override == o)
}

// disarmAgain is how long after the nth refusal a write that disarms is sent again.
func disarmAgain(n int) time.Duration {
	return min(attemptBackoff<<min(max(n-1, 0), 10), ejectMax)
}
