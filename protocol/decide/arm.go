package decide

import (
	"time"

	"rackboot/protocol"
)

// armed is what override the BMC holds, as an attempt sees it.
type armed string

const (
	armedOurs  armed = "ours"  // the attempt's target
	armedOther armed = "other" // another party's
	armedNone  armed = "none"
)

// armedOf reads the override of the last read. One that the BMC shows under another
// name is ours by that name too: a driver that was opened again does not know what it
// wrote. One that a BMC keeps after firmware took it counts as taken.
func armedOf(a *Attempt, last protocol.Observation, now time.Time) armed {
	o := last.Override
	switch {
	case !o.Armed():
		return armedNone
	case !a.isOurs(o):
		return armedOther
	case a.tookDisk(last, now):
		return armedNone
	}
	return armedOurs
}

// isOurs says whether an override that is armed is what the attempt wrote.
func (a *Attempt) isOurs(o protocol.Override) bool {
	return o.Target == a.Order.Target || a.Stage.Arming.Outcome == protocol.BootAliased && o.Target == a.Stage.Arming.Read.Target
}

// tookDisk says whether firmware took an override to the disk that its BMC keeps
// (CoercedContinuous): nothing takes it away, and the disk asks nobody. What is known
// is that an operating system is loading, which is a hint and enough here, or that
// POST is long over: if either is wrong, the boot order decides, and no network boot
// is served.
func (a *Attempt) tookDisk(o protocol.Observation, now time.Time) bool {
	return a.Stage.Arming.Outcome == protocol.BootCoercedContinuous && !a.Network() && o.Power == protocol.PowerOn &&
		(o.BootProgress == "OSBootStarted" || o.BootProgress == "OSRunning" || now.Sub(a.Stage.Since) >= consumeTimeout)
}

// fault is what matters of the error that came with an override's outcome.
type fault string

const (
	faultNone  fault = "none"
	faultBusy  fault = "busy"  // the BMC asked for a pause
	faultNever fault = "never" // unsupported
	faultOther fault = "other"
)

func faultOf(r Result) fault {
	switch {
	case r.Code == "":
		return faultNone
	case r.Busy:
		return faultBusy
	case r.Code == protocol.CodeUnsupported:
		return faultNever
	}
	return faultOther
}

// fate is what becomes of an attempt whose override was written.
type fate string

const (
	fateArmed fate = "armed"
	fateWaits fate = "waits" // for the BMC, for armPatience
	fateAgain fate = "again" // for a while
	fateEnds  fate = "ends"  // with OverrideNotStored
)

// armRule is the table of outcomes. The first row that fits decides.
//
//	outcome           | error | fate
//	Stored            | none  | armed
//	PendingReset      | none  | armed
//	Aliased           | none  | armed
//	CoercedContinuous | none  | armed
//	RefusedByState    | *     | waits
//	*                 | busy  | waits
//	Unsupported       | *     | ends
//	*                 | never | ends
//	Reverted          | none  | ends
//	Dropped           | none  | ends
//	*                 | *     | again
//
// What is stored with an error is not believed: it may be armed in the wrong mode.
// CoercedContinuous boots as wanted, and would again and again: it is cleared as soon
// as firmware is known to have taken it (see lasting).
func armRule(o protocol.BootOutcome, f fault) fate {
	switch {
	case f == faultNone && (o.OK() || o == protocol.BootCoercedContinuous):
		return fateArmed
	case o == protocol.BootRefusedByState, f == faultBusy:
		return fateWaits
	case o == protocol.BootUnsupported, f == faultNever:
		return fateEnds
	case f == faultNone && (o == protocol.BootReverted || o == protocol.BootDropped):
		return fateEnds
	default:
		return fateAgain
	}
}

// told is an outcome in words.
func told(r Result) string {
	s := string(r.Outcome)
	if r.Where != "" {
		s += " at " + r.Where
	}
	text := r.Text
	if text == "" {
		text = r.Message
	}
	if text != "" {
		s += ": " + text
	}
	return s
}

// hidden says whether the BMC may hold an override of the attempt that a read of the
// system does not show: in a settings object, or written without an answer.
func (a *Attempt) hidden() bool {
	return a.Stage.Arming.Outcome == protocol.BootPendingReset || a.Stage.Arming.Outcome == protocol.BootUnknown
}

// pauseMax bounds what a BMC may ask for: holds and boots are tried for ever, and
// never less often.
const pauseMax = 30 * time.Second

// pauseOf is how long to wait after an answer: d, or what the BMC asked for.
func pauseOf(d time.Duration, r Result) time.Duration {
	return max(d, min(r.RetryAfter, pauseMax))
}
