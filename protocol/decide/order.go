package decide

import (
	"time"

	"rackboot/protocol"
)

// actionOf is the action that a Task was of; none for one that is not ours.
//
//	reset            | action
//	On               | on
//	ForceRestart     | restart
//	GracefulShutdown | graceful-shutdown
//	ForceOff         | force-off
//	*                | none
func actionOf(reset string) ActionKind {
	switch reset {
	case "On":
		return ActOn
	case "ForceRestart":
		return ActRestart
	case "GracefulShutdown":
		return ActGraceful
	case "ForceOff":
		return ActForceOff
	}
	return ActNone
}

// orderFailed folds the end of a Task that the BMC had made of an order, and that failed:
// the order was taken, and refused after that. It is sent again after a pause that doubles.
func (p *step) orderFailed(f protocol.BMCFault) {
	kind := actionOf(f.Reset)
	if kind == ActNone {
		return
	}
	p.refused(Result{Action: kind, Fault: f, Message: f.Words()})
	if st := p.rec.Stop; kind == ActForceOff && st != nil && st.Taken > 0 {
		st.Taken--
		p.dirty = true
	}
	if kind == ActOn || kind == ActRestart {
		p.watch.Pause = p.now.Add(againPause(p.watch.Refused[kind].Times))
	}
}

// againPause is how long after the nth refusal in a row something is sent again that a BMC
// refuses for a reason of its own: it doubles from onResend.
func againPause(n int) time.Duration {
	return min(onResend<<min(max(n-1, 0), 10), forceMax)
}

// took forgets what was refused of a kind of action that the BMC has taken now. What
// failed after it was taken is forgotten by its effect only.
func (p *step) took(k ActionKind) {
	if p.watch.Refused[k].Fault.Kind != protocol.FaultTask {
		p.forgive(k)
	}
}
