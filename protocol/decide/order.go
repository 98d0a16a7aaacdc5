package decide

import "time"

// actionOf is the action that a Task was of; none for one that is not ours.
//
//	reset            | action
//	On               | on
//	ForceRestart     | restart
//	GracefulRestart  | restart
//	GracefulShutdown | graceful-shutdown
//	ForceOff         | force-off
//	*                | none
func actionOf(reset string) ActionKind {
	switch reset {
	case "On":
		return ActOn
	case "ForceRestart", "GracefulRestart":
		return ActRestart
	case "GracefulShutdown":
		return ActGraceful
	case "ForceOff":
		return ActForceOff
	}
	return ActNone
}

// againPause is how long after the nth refusal in a row something is sent again that a BMC
// refuses for a reason of its own: it doubles from onResend.
func againPause(n int) time.Duration {
	return min(onResend<<min(max(n-1, 0), 10), forceMax)
}
