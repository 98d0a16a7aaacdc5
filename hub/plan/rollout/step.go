package rollout

import (
	"maps"
	"strings"
	"time"

	"rackboot/protocol/resource"
)

// Input is everything that a step depends on.
type Input struct {
	// Now is the time, in the zone of the windows: see [resource.RolloutSpec.Local].
	Now    time.Time
	Spec   resource.RolloutSpec
	Status resource.RolloutStatus
	// Servers are the group's, each once, in any order.
	Servers []Server
	// Stamped says that the entry is valid for more than canaries.
	Stamped bool
	// Approved says whether a server may be installed anew by this roll-out; nil approves
	// none.
	Approved func(server string) bool
}

// OrderKind is what is to be done with a server.
type OrderKind string

// The kinds.
const (
	OrderReboot      OrderKind = "Reboot"      // soft, into the revision
	OrderReprovision OrderKind = "Reprovision" // configured anew with a grant: its disk is lost
	// OrderReturn takes it to the revision before, by the strategy's way.
	OrderReturn OrderKind = "Return"
)

// Order is one thing to be done. Server, Kind and At name it.
type Order struct {
	Server string
	Kind   OrderKind
	At     time.Time
}

// Result is what follows from an input.
type Result struct {
	Status resource.RolloutStatus
	Orders []Order
	// Stamp is the server whose proved boot may stamp the entry, said until Stamped.
	Stamp string
	// RollBack says in every step of a roll-out that is RolledBack that the revision
	// before is to be current again, as a copy. The copy needs no roll-out of its own:
	// this one returns its servers.
	RollBack bool
	// Unapproved are the servers that would be begun, or returned, but for an approval.
	Unapproved []string
	// RecheckAt is when the next step has something to do if nothing changes before; zero
	// is never.
	RecheckAt time.Time
	// Message says for people how far it is and what it waits for.
	Message string
}

// run is a step under way.
type run struct {
	in      Input
	st      resource.RolloutStatus
	servers map[string]Server // claimed, by name
	out     outlook
	gate    gate
	room    room
	orders  []Order
	blocked string // why nothing more is begun
	wanting []string
	recheck time.Time
}

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

// last is the number of the last wave; 0 is the canary's, of a group that has no other.
func (r *run) last() int { return r.st.Waves - 1 }

// reached says whether members of a wave may be begun.
func (r *run) reached(wave int) bool {
	return wave <= r.st.Wave || r.st.Phase == resource.RolloutCompleted
}

// at remembers when a step is due.
func (r *run) at(t time.Time) {
	if t.After(r.in.Now) && (r.recheck.IsZero() || t.Before(r.recheck)) {
		r.recheck = t
	}
}

// maxReason bounds the reason of a member in bytes: the status has one for each server, and
// is one value of a store. The whole of it is in the server's own conditions.
const maxReason = 120

// short is a reason that may be stored.
func short(reason string) string {
	if len(reason) <= maxReason {
		return reason
	}
	const more = "…"
	return strings.ToValidUTF8(reason[:maxReason-len(more)], "") + more
}

// set stores a member in a state that it comes to now.
func (r *run) set(name string, m resource.RolloutMember, state resource.MemberState, reason string) {
	m.State, m.Since, m.Reason = state, r.in.Now.UTC(), short(reason)
	r.st.Members[name] = m
}

// moving says whether a server is on its way.
func (r *run) moving() bool {
	for _, m := range r.st.Members {
		if m.State == resource.MemberBegun || m.State == resource.MemberSoaking {
			return true
		}
	}
	return false
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
