package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// guards keeps a held server from coming on with mains power.
type guards struct {
	d    *draft
	away bool // the BMC cannot be asked
	can  bool // the driver offers a restore policy
	kept bool // the Server keeps its own
}

func guardsOf(d *draft, s *Snapshot) guards {
	return guards{d, s.BMCError != nil, s.CanGuard, s.Intent != nil && s.Intent.KeepPowerRestorePolicy}
}

// advance sets the restore policy of a held server to AlwaysOff, and puts it back after
// the last hold, or when the Server is to keep its own. It is the last thing that a step
// may send, and while held only to a server that was read Off: it never delays a stop.
// Where a receipt is still to be had, it has as long as until the next read.
func (gs guards) advance() {
	held, last := len(gs.d.holds) > 0, gs.d.watch.Last.Power
	g, state := gs.d.rec.Guard, GuardNone
	if g != nil {
		state = g.State
	}
	k, forget := guardRule(held && !gs.kept, state, g != nil && g.Before != "" && g.Before != protocol.RestoreAlwaysOff)
	switch {
	case forget:
		gs.end()
		return
	case k == ActNone:
		return
	case gs.d.plan.Action.Kind != ActNone, gs.away, gs.d.rec.Attempt.Open():
		return
	case held && last != protocol.PowerOff, last == "", last == protocol.PowerUnreachable:
		return
	case !gs.can && k == ActReadPolicy:
		gs.cannot("the driver of this BMC cannot set it")
		return
	}
	if gs.d.watch.Guard.Kind == k && gs.d.now.Before(gs.d.watch.Guard.Next) {
		gs.d.recheckAt(gs.d.watch.Guard.Next)
		return
	}
	a := Action{Kind: k}
	if gs.d.rec.unproved(gs.d.holds) {
		if a.Within = gs.d.plan.RecheckAt.Sub(gs.d.now); a.Within < guardRoom {
			return
		}
	}
	if k == ActGuard {
		a.Policy = protocol.RestoreAlwaysOff
	}
	if k == ActUnguard {
		if a.Policy = g.Before; state == GuardSet {
			gs.set(Guard{Before: g.Before, State: GuardKnown})
			proofs{d: gs.d}.vouch("")
		}
	}
	gs.d.act(a)
}

// putBack brings the policy from before back ahead of a power-on, and reports whether
// that has to wait.
func (gs guards) putBack() bool {
	gs.advance()
	if gs.d.rec.Guard == nil {
		return false
	}
	return gs.d.plan.Action.Kind != ActNone || gs.d.watch.Guard.Tries < unguardTries
}

// result folds the answer to what was sent.
func (gs guards) result(r Result) {
	g := gs.d.rec.Guard
	switch {
	case r.Action == ActReadPolicy && g != nil, r.Action != ActReadPolicy && g == nil:
		return
	case r.Code != "" && r.Action != ActUnguard && r.Code == protocol.CodeUnsupported && !r.Busy:
		gs.cannot(r.Message)
		return
	case r.Code != "":
		w := gs.d.watch.Guard
		if w.Kind != r.Action {
			w = GuardWatch{Kind: r.Action}
		}
		if w.Why = r.Message; w.Why == "" {
			w.Why = string(r.Code)
		}
		w.Next = gs.d.now.Add(pauseOf(min(attemptBackoff<<min(w.Tries, 10), attemptMaxPause), r))
		w.Tries++
		gs.d.watch.Guard = w
		return
	}
	gs.d.watch.Guard = GuardWatch{}
	switch r.Action {
	case ActReadPolicy:
		switch r.Policy {
		case protocol.RestoreAlwaysOff:
			gs.set(Guard{Before: r.Policy, State: GuardSet})
			proofs{d: gs.d}.vouch(protocol.RestoreAlwaysOff)
		case protocol.RestoreAlwaysOn, protocol.RestoreLastState:
			gs.set(Guard{Before: r.Policy, State: GuardKnown})
		default:
			gs.cannot("the BMC does not say what its policy is")
		}
	case ActGuard:
		gs.set(Guard{Before: g.Before, State: GuardSet})
		gs.d.happened(resource.EventRestorePolicy, "%s while held; %s before", protocol.RestoreAlwaysOff, g.Before)
		proofs{d: gs.d}.vouch(protocol.RestoreAlwaysOff)
	case ActUnguard:
		gs.d.happened(resource.EventRestorePolicy, "%s again", g.Before)
		gs.end()
	case ActNone, ActArm, ActDisarm, ActOn, ActRestart, ActGraceful, ActForceOff, ActInsert, ActEject, ActClearURL, ActReadFirmware, ActWriteFirmware:
	}
}

func (gs guards) cannot(why string) {
	g := Guard{State: GuardCannot, Why: why}
	if gs.d.rec.Guard != nil {
		g.Before = gs.d.rec.Guard.Before
	}
	gs.set(g)
	gs.d.watch.Guard = GuardWatch{}
}

func (gs guards) set(g Guard) {
	gs.d.rec.Guard, gs.d.dirty = &g, true
}

func (gs guards) end() {
	proofs{d: gs.d}.vouch("")
	gs.d.rec.Guard, gs.d.watch.Guard, gs.d.dirty = nil, GuardWatch{}, true
}
