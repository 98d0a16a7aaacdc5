package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// DisarmWay is how an override is taken away that nothing consumed.
type DisarmWay string

// The ways, in the order in which they are tried.
const (
	DisarmDisabled DisarmWay = ""      // Disabled, in the words of the BMC's vendor
	DisarmNone     DisarmWay = "none"  // the target None alone
	DisarmHdd      DisarmWay = "hdd"   // the disk for once: what is left boots nothing foreign
	DisarmLeave    DisarmWay = "leave" // it stays
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

// Left is an override that a BMC keeps although it was to be taken away. Our next power-on
// writes its own over it first, or is not sent (P6).
type Left struct {
	Override protocol.Override `json:"override"`
	Since    time.Time         `json:"since"`
	// Fault is what the BMC said to the last write.
	Fault protocol.BMCFault `json:"fault,omitzero"`
	// Hidden is that reads do not show it.
	Hidden bool `json:"hidden,omitempty"`
}

// leave notes what stays armed. Nothing writes to it any more but our next power-on.
func (p *step) leave(o protocol.Override, f protocol.BMCFault, hidden bool) {
	p.rec.Left = &Left{Override: o, Since: p.now, Fault: f, Hidden: hidden}
	p.dirty = true
	p.happened(resource.EventOverrideLeft, "%s %s stays armed: %s", o.Target, o.Enabled, f.Words())
}

// leftover forgets what stayed armed once a read shows that it does not any more. A BMC may
// come to show it in other words, such as Continuous.
func (p *step) leftover(o protocol.Observation) {
	l := p.rec.Left
	switch {
	case l == nil || l.Hidden || o.Power == protocol.PowerUnknown || o.Power == protocol.PowerUnreachable || o.Override == l.Override:
	case o.Override.Armed() && o.Override.Target == l.Override.Target:
		l.Override, p.dirty = o.Override, true
	default:
		p.rec.Left, p.dirty = nil, true
	}
}

// isLeft says whether all was tried to take away the override that the BMC holds.
func (p *step) isLeft(o protocol.Override) bool {
	l := p.rec.Left
	return l != nil && (l.Hidden || l.Override == o)
}

// disarmAgain is how long after the nth refusal a write that disarms is sent again.
func disarmAgain(n int) time.Duration {
	return min(attemptBackoff<<min(max(n-1, 0), 10), ejectMax)
}

// deriveLeft says what stays armed.
func (p *step) deriveLeft() {
	if l := p.rec.Left; l != nil {
		p.raise(resource.CondOverrideLeft, "%s %s, since %s: %s", l.Override.Target, l.Override.Enabled, l.Since.UTC().Format(time.RFC3339), l.Fault.Words())
	}
}
