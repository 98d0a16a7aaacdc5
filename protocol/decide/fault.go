package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// faultCondition names what a BMC does wrong. The first row that fits decides; none is that
// the code of the error says enough.
//
//	fault        | condition
//	Precondition | BMCRefusesETags
//	Task         | BMCTaskFailed
//	Sessions     | BMCSessionsFull
//	Slow         | BMCAnswersSlowly
//	Cut          | BMCAnswerCut
//	Gone         | SystemNotFound
//	Stranger     | SystemNotFound
//	Ambiguous    | SystemAmbiguous
//	*            | none
func faultCondition(k protocol.FaultKind) resource.ConditionCode {
	switch k {
	case protocol.FaultPrecondition:
		return resource.CondETagsRefused
	case protocol.FaultTask:
		return resource.CondTaskFailed
	case protocol.FaultSessions:
		return resource.CondSessionsFull
	case protocol.FaultSlow:
		return resource.CondBMCSlow
	case protocol.FaultCut:
		return resource.CondBMCCut
	case protocol.FaultGone, protocol.FaultStranger:
		return resource.CondSystemNotFound
	case protocol.FaultAmbiguous:
		return resource.CondSystemAmbiguous
	case protocol.FaultRefused, protocol.FaultPower:
	}
	return conditionNone
}

// conditionNone is no condition.
const conditionNone resource.ConditionCode = "none"

// Unread is the present run of reads that gave no power state although the BMC answered.
type Unread struct {
	Since time.Time // of its first read; zero if the last read gave one, or no answer came
	Reads int
	Fault protocol.BMCFault // of the last of them
}

// unread folds a read into the run. What a BMC that does not answer any more did before
// counts on while it is not asked: it is not known to be away.
func (p *step) unread(o protocol.Observation) {
	u := &p.watch.Unread
	switch {
	case o.Power == protocol.PowerUnknown, o.Power == protocol.PowerUnreachable && o.Fault.Kind == protocol.FaultSlow:
		if u.Since.IsZero() || u.Since.After(p.now) {
			u.Since = o.ReadAt
		}
		if u.Fault = o.Fault; !p.snap.Busy { // else the BMC says itself when to read
			u.Reads++
		}
	case o.Power == protocol.PowerUnreachable && !p.snap.Busy && p.snap.RetryAfter > 0 && u.Fault.Kind == protocol.FaultSlow:
	default:
		*u = Unread{}
	}
}

const (
	// unreadCalm is how many reads without a power state come as soon as any others.
	unreadCalm = 3
	// unreadMax bounds the pause between later ones: it delays nothing that a slow poll
	// would have noticed.
	unreadMax = 10 * time.Second
)

// unreadPause is how long a BMC is left alone that answered n reads in a row without a
// power state: it doubles from a second.
func unreadPause(n int) time.Duration {
	if n <= unreadCalm {
		return 0
	}
	return min(time.Second<<min(n-unreadCalm-1, 10), unreadMax)
}

// deriveFault names what the BMC did wrong in the last read, and reports whether that says
// why the BMC counts as unreachable.
func (p *step) deriveFault() bool {
	f := p.watch.Last.Fault
	if f.Kind == "" {
		f = p.watch.Unread.Fault
	}
	code := faultCondition(f.Kind)
	if code == conditionNone {
		return false
	}
	p.raise(code, "%s", f.Words())
	return p.watch.Last.Power == protocol.PowerUnreachable
}
