package rollout

import (
	"time"

	"rackboot/protocol/resource"
)

// spot is what a server is for an order.
type spot string

const (
	spotServing spot = "serving"
	spotFailed  spot = "failed" // nothing runs on it since its boot failed
	spotNone    spot = "none"   // it is not there to take, or the strategy's order is not for it
)

func spotOf(strategy resource.RolloutStrategy, s Server) spot {
	switch {
	case !s.fits(strategy):
		return spotNone
	case s.place() == isUp:
		return spotServing
	case s.place() == isFailed:
		return spotFailed
	}
	return spotNone
}

// take is what is done with a server whose turn it is.
type take string

const (
	takeBegin    take = "begin"
	takeNever    take = "never" // the strategy gives no orders
	takeLater    take = "later" // nobody waits for it: it is taken when it is back
	takeGate     take = "gate"
	takeStamp    take = "stamp"
	takeApproval take = "approval"
	takeRoom     take = "room"
)

// takeRule says whether a server may be ordered to boot another revision, or what that
// waits for. Allowed is that the entry is stamped or the server a canary. One on which
// nothing runs takes no room.
//
//	strategy    | gate   | server  | allowed | approved | room | take
//	OnNextBoot  | *      | *       | *       | *        | *    | never
//	*           | *      | none    | *       | *        | *    | later
//	*           | paused | *       | *       | *        | *    | gate
//	*           | frozen | *       | *       | *        | *    | gate
//	*           | failed | *       | *       | *        | *    | gate
//	*           | closed | *       | *       | *        | *    | gate
//	*           | wrong  | *       | *       | *        | *    | gate
//	*           | open   | *       | no      | *        | *    | stamp
//	Reprovision | open   | *       | yes     | no       | *    | approval
//	*           | open   | serving | yes     | *        | no   | room
//	*           | open   | *       | yes     | *        | *    | begin
func takeRule(strategy resource.RolloutStrategy, g gate, at spot, allowed, approved, room bool) take {
	switch {
	case strategy == resource.RolloutOnNextBoot:
		return takeNever
	case at == spotNone:
		return takeLater
	case g != gateOpen:
		return takeGate
	case !allowed:
		return takeStamp
	case strategy == resource.RolloutReprovision && !approved:
		return takeApproval
	case at == spotServing && !room:
		return takeRoom
	}
	return takeBegin
}

func (r *run) mayTake(m resource.RolloutMember) bool { return r.in.Stamped || m.Wave == 0 }

func (r *run) approved(name string) bool { return r.in.Approved != nil && r.in.Approved(name) }

// order gives the strategy's order.
func (r *run) order(name string, at time.Time) {
	kind := OrderReboot
	if r.st.Strategy == resource.RolloutReprovision {
		kind = OrderReprovision
	}
	r.orders = append(r.orders, Order{name, kind, at})
}

// begin begins who may be, in turn.
func (r *run) begin() {
	var waiting []string
	for name, m := range r.st.Members {
		if m.State == resource.MemberWaiting && r.reached(m.Wave) {
			waiting = append(waiting, name)
		}
	}
	if r.st.Strategy != resource.RolloutOnNextBoot && r.gate == gateOpen {
		waiting = spread(r.servers, waiting)
	}
	r.room = roomOf(r.in.Words, r.in.Spec.MaxUnavailable, r.servers, r.st.Members)
	wants := map[take][]string{}
	for _, name := range waiting {
		m, s := r.st.Members[name], r.servers[name]
		at := spotOf(r.st.Strategy, s)
		what := takeRule(r.st.Strategy, r.gate, at, r.mayTake(m), r.approved(name), r.room.left(name))
		wants[what] = append(wants[what], name)
		if what != takeBegin {
			m.Reason = short(waitsFor(r.st.Strategy, what, s))
			r.st.Members[name] = m
			continue
		}
		now := r.in.Now.UTC().Round(0)
		due := now.Add(r.in.Spec.Deadline.D())
		m.BegunAt, m.DueAt, m.WasDown = &now, &due, at == spotFailed
		r.set(name, m, resource.MemberBegun, "")
		if at == spotServing {
			r.room.take(name)
		}
		r.order(name, now)
		r.at(due)
	}
	r.block(wants)
}

// awaited says whether a canary takes the revision at its next boot, or its first, by
// itself.
func (r *run) awaited() bool {
	for name, m := range r.st.Members {
		if m.Wave == 0 && m.State == resource.MemberWaiting && able(r.st.Strategy, r.servers[name]) &&
			(r.st.Strategy == resource.RolloutOnNextBoot || r.servers[name].Boots == "") {
			return true
		}
	}
	return false
}

// block says what those who wait wait for; a shut gate has said so already.
func (r *run) block(wants map[take][]string) {
	r.wanting = wants[takeApproval]
	switch {
	case r.gate == gatePaused || r.gate == gateFailed || r.gate != gateOpen && len(wants[takeGate]) > 0:
	case len(wants[takeApproval]) > 0:
		r.blocked = "waits for approval of " + names(wants[takeApproval])
	case len(wants[takeStamp]) > 0:
		r.blocked = "waits for the entry's stamp"
	case len(wants[takeRoom]) > 0:
		r.blocked = r.room.why(r.in.Spec.MaxUnavailable)
	case r.st.Wave == 0 && !r.in.Stamped && r.st.Proved:
		r.blocked = "waits for the entry's stamp"
	case r.st.Wave == 0 && !r.st.Phase.Over() && !r.moving() && !r.awaited():
		r.blocked = "waits for a server that can be its canary"
		if who := waited(r.st); who != "" {
			r.blocked += ": " + who
		}
	default:
		r.blocked = ""
	}
}
