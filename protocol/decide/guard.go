package decide

import (
	"fmt"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Guard is what a held server does when mains power returns, and what it did before.
type Guard struct {
	// Before is the policy from before, on disk before another is written; empty where
	// it is not known, and then none is.
	Before protocol.RestorePolicy `json:"before,omitempty"`
	State  Guarding               `json:"state"`
	Why    string                 `json:"why,omitempty"` // it cannot be
}

// Guarding is how far a guard has come.
type Guarding string

// The states of a guard.
const (
	GuardNone   Guarding = "none"
	GuardKnown  Guarding = "known"  // Before is on disk; the BMC may have either policy
	GuardSet    Guarding = "set"    // AlwaysOff was read back
	GuardCannot Guarding = "cannot" // the BMC does not offer it, or refused it
)

// GuardWatch is how often the last action of a guard failed in a row, and since when.
type GuardWatch struct {
	Kind  ActionKind
	Tries int
	Next  time.Time
	Why   string
}

// unguardTries is how often a policy is put back in vain before the server is powered
// on all the same: a BMC that refuses it must not keep the server off for ever.
const unguardTries = 4

// guardRoom is how much time there must be before the next read counts toward a
// receipt; else the guard waits for the receipt.
const guardRoom = 500 * time.Millisecond

// guardRule is the table of guards. The first row that fits decides.
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

// guard sets the restore policy of a held server to AlwaysOff, and puts it back after
// the last hold. It is the last thing that a step may send, and while held only to a
// server that was read Off: it never delays a stop. Where a receipt is still to be
// had, it has as long as until the next read.
func (p *step) guard() {
	held, last := len(p.snap.Holds) > 0, p.watch.Last.Power
	g, state := p.rec.Guard, GuardNone
	if g != nil {
		state = g.State
	}
	k, forget := guardRule(held, state, g != nil && g.Before != "" && g.Before != protocol.RestoreAlwaysOff)
	switch {
	case forget:
		p.unguarded()
		return
	case k == ActNone:
		return
	case p.plan.Action.Kind != ActNone, p.snap.BMCError != nil, p.rec.Attempt.Open():
		return
	case held && last != protocol.PowerOff, last == "", last == protocol.PowerUnreachable:
		return
	case !p.snap.CanGuard && k == ActReadPolicy:
		p.cannot("the driver of this BMC cannot set it")
		return
	}
	if p.watch.Guard.Kind == k && p.now.Before(p.watch.Guard.Next) {
		p.recheckAt(p.watch.Guard.Next)
		return
	}
	a := Action{Kind: k}
	if p.unproved() {
		if a.Within = p.plan.RecheckAt.Sub(p.now); a.Within < guardRoom {
			return
		}
	}
	if k == ActGuard {
		a.Policy = protocol.RestoreAlwaysOff
	}
	if k == ActUnguard {
		if a.Policy = g.Before; state == GuardSet {
			p.setGuard(Guard{Before: g.Before, State: GuardKnown})
		}
	}
	p.act(a)
}

// unproved says whether a hold is without a receipt from reads.
func (p *step) unproved() bool {
	for _, h := range p.snap.Holds {
		if p.receipt(h) != proofReads {
			return true
		}
	}
	return false
}

// putBack brings the policy from before back ahead of a power-on, and reports whether
// that has to wait.
func (p *step) putBack() bool {
	p.guard()
	if p.rec.Guard == nil {
		return false
	}
	return p.plan.Action.Kind != ActNone || p.watch.Guard.Tries < unguardTries
}

// guardResult folds the answer to what guard sent.
func (p *step) guardResult(r Result) {
	g := p.rec.Guard
	switch {
	case r.Action == ActReadPolicy && g != nil, r.Action != ActReadPolicy && g == nil:
		return
	case r.Code != "" && r.Action != ActUnguard && r.Code == protocol.CodeUnsupported && !r.Busy:
		p.cannot(r.Message)
		return
	case r.Code != "":
		w := p.watch.Guard
		if w.Kind != r.Action {
			w = GuardWatch{Kind: r.Action}
		}
		if w.Why = r.Message; w.Why == "" {
			w.Why = string(r.Code)
		}
		w.Next = p.now.Add(pauseOf(min(attemptBackoff<<min(w.Tries, 10), attemptMaxPause), r))
		w.Tries++
		p.watch.Guard = w
		return
	}
	p.watch.Guard = GuardWatch{}
	switch r.Action {
	case ActReadPolicy:
		switch r.Policy {
		case protocol.RestoreAlwaysOff:
			p.setGuard(Guard{Before: r.Policy, State: GuardSet})
			p.vouch()
		case protocol.RestoreAlwaysOn, protocol.RestoreLastState:
			p.setGuard(Guard{Before: r.Policy, State: GuardKnown})
		default:
			p.cannot("the BMC does not say what its policy is")
		}
	case ActGuard:
		p.setGuard(Guard{Before: g.Before, State: GuardSet})
		p.happened(resource.EventRestorePolicy, "%s while held; %s before", protocol.RestoreAlwaysOff, g.Before)
		p.vouch()
	case ActUnguard:
		p.happened(resource.EventRestorePolicy, "%s again", g.Before)
		p.unguarded()
	case ActNone, ActArm, ActDisarm, ActOn, ActRestart, ActGraceful, ActForceOff, ActInsert, ActEject, ActClearURL:
	}
}

// vouch puts the guard into the receipts that there are.
func (p *step) vouch() {
	for id, r := range p.rec.Receipts {
		r.RestorePolicy = protocol.RestoreAlwaysOff
		p.rec.Receipts[id] = r
	}
}

func (p *step) cannot(why string) {
	g := Guard{State: GuardCannot, Why: why}
	if p.rec.Guard != nil {
		g.Before = p.rec.Guard.Before
	}
	p.setGuard(g)
	p.watch.Guard = GuardWatch{}
}

func (p *step) setGuard(g Guard) {
	p.rec.Guard, p.dirty = &g, true
}

func (p *step) unguarded() {
	p.rec.Guard, p.watch.Guard, p.dirty = nil, GuardWatch{}, true
}

// deriveGuard says what is known to be in a guard's way.
func (p *step) deriveGuard() {
	g, w := p.rec.Guard, p.watch.Guard
	switch {
	case len(p.snap.Holds) > 0 && g != nil && g.State == GuardCannot:
		p.raise(resource.CondRestorePolicy, "%s", g.Why)
	case w.Why != "" && w.Kind == ActUnguard && g != nil:
		p.raise(resource.CondRestorePolicy, "not put back to %s: %s", g.Before, w.Why)
	case w.Why != "":
		p.raise(resource.CondRestorePolicy, "%s", fmt.Sprintf("%s: %s", w.Kind, w.Why))
	}
}
