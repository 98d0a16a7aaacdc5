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
