package rollout

import (
	"fmt"
	"time"

	"rackboot/protocol/resource"
)

// gate is whether orders may be given at all.
type gate string

const (
	gateOpen   gate = "open"
	gatePaused gate = "paused"
	gateFrozen gate = "frozen"
	gateFailed gate = "failed"
	gateClosed gate = "closed" // no window is open
	gateWrong  gate = "wrong"  // the windows cannot be read
)

// window is what [InWindow] says.
type window string

const (
	windowOpen   window = "open"
	windowClosed window = "closed"
	windowWrong  window = "wrong"
)

// gateRule says whether orders may be given. Failed is a roll-out that has completed and
// of whose stragglers more have failed than may: it stays Completed and begins no more.
//
//	paused | frozen | failed | window | gate
//	yes    | *      | *      | *      | paused
//	no     | yes    | *      | *      | frozen
//	no     | no     | yes    | *      | failed
//	no     | no     | no     | wrong  | wrong
//	no     | no     | no     | closed | closed
//	no     | no     | no     | open   | open
func gateRule(paused, frozen, failed bool, w window) gate {
	switch {
	case paused:
		return gatePaused
	case frozen:
		return gateFrozen
	case failed:
		return gateFailed
	case w == windowOpen:
		return gateOpen
	case w == windowClosed:
		return gateClosed
	}
	return gateWrong
}

// outlook is what the windows say now.
type outlook struct {
	window window
	next   time.Time
	err    error
}

func (r *run) lookOut() {
	open, next, err := InWindow(r.in.Now, r.in.Spec)
	r.out = outlook{windowClosed, next, err}
	switch {
	case err != nil:
		r.out.window = windowWrong
	case open:
		r.out.window = windowOpen
	}
	r.at(next)
}

// setGate judges the gate, and says why it is shut.
func (r *run) setGate() {
	next := r.out.next
	failed := ""
	if r.st.Phase == resource.RolloutCompleted {
		failed = r.tooMany()
	}
	r.gate = gateRule(r.st.Phase == resource.RolloutPaused, r.in.Spec.Freeze, failed != "", r.out.window)
	switch r.gate {
	case gateOpen:
		r.blocked = ""
	case gatePaused:
		r.blocked = "it is paused"
	case gateFrozen:
		r.blocked = "spec.rollout.freeze is set"
	case gateFailed:
		r.blocked = failed + "; rackctl rollout resume tries them again"
	case gateClosed:
		r.blocked = "no window is open before " + next.Format("Mon 2006-01-02 15:04 MST")
		if next.IsZero() {
			r.blocked = "no window is ever open"
		}
	case gateWrong:
		r.blocked = fmt.Sprintf("its windows cannot be read, so none is open: %v", r.out.err)
	}
}
