package rollout

import (
	"maps"

	"rackboot/protocol/resource"
)

// Step takes a roll-out one step further. It changes nothing of its input. Without a
// change of the input but the time, and before RecheckAt, it answers the same.
func Step(in Input) Result {
	switch in.Status.Phase {
	case resource.RolloutAborted, resource.RolloutFailed, resource.RolloutSuperseded:
		return Result{Status: in.Status, Message: in.Status.Reason}
	default:
	}
	r := newRun(in)
	r.join()
	if r.st.Phase != resource.RolloutRolledBack {
		r.look()
		r.setGate()
		r.advance()
		r.prune()
	}
	if r.st.Phase == resource.RolloutRolledBack {
		r.giveBack()
	} else {
		r.begin()
		r.setPhase()
	}
	return Result{
		Status: r.st, Orders: r.orders, Stamp: r.stamp(), RollBack: r.st.Phase == resource.RolloutRolledBack,
		Unapproved: r.wanting, RecheckAt: r.recheck, Message: r.message(),
	}
}

func newRun(in Input) *run {
	r := &run{in: in, st: in.Status, servers: make(map[string]Server, len(in.Servers))}
	r.st.Members = maps.Clone(in.Status.Members)
	if r.st.Members == nil {
		r.st.Members = map[string]resource.RolloutMember{}
	}
	for _, s := range in.Servers {
		if s.Claimed {
			r.servers[s.Name] = s
		}
	}
	r.lookOut()
	r.setGate()
	return r
}

// setPhase says how far it is, and why it waits if it does. One that is paused has said
// why, and one that is complete waits for stragglers only.
func (r *run) setPhase() {
	switch r.st.Phase {
	case resource.RolloutPaused:
		return
	case resource.RolloutCompleted:
		r.st.Reason = r.blocked
		return
	default:
	}
	r.st.Reason, r.st.By = r.blocked, ""
	switch {
	case !r.moving() && r.blocked != "":
		r.st.Phase = resource.RolloutWaiting
	case r.st.Wave == 0:
		r.st.Phase = resource.RolloutCanary
	default:
		r.st.Phase = resource.RolloutWave
	}
}
