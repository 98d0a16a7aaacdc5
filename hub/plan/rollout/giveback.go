package rollout

import (
	"fmt"
	"time"

	"rackboot/protocol/resource"
)

// back is what is done with a member of a roll-out that is rolled back.
type back string

const (
	backNothing back = "nothing"
	backOrder   back = "order"
	backDone    back = "returned"
	backLeft    back = "left"
	backWait    back = "wait" // until its attempt ends, or it is back
)

// boots is what a server boots, or tried to.
type boots string

const (
	bootsTarget boots = "target"
	bootsOther  boots = "other"
)

// bootsOf is what a server has: a part of it is enough, and one that does not serve has the revision also if it has
// failed with it since it booted anything.
func bootsOf(s Server) boots {
	if s.Boots == s.Target || s.Part || !s.Up && s.Failed != "" && s.FailedAt.After(s.BootedAt) {
		return bootsTarget
	}
	return bootsOther
}

// backRule says who is returned: who boots the revision, and who has failed with it.
// Nothing is begun with a server while an attempt is under way, nor with one that
// somebody has turned off: it boots the revision before when it is turned on.
//
//	state     | boots  | place  | back
//	Returned  | *      | *      | nothing
//	Skipped   | *      | gone   | nothing
//	Done      | *      | gone   | nothing
//	Failed    | *      | gone   | nothing
//	*         | *      | gone   | left
//	Waiting   | other  | *      | nothing
//	Skipped   | other  | *      | nothing
//	*         | other  | up     | returned
//	Returning | *      | *      | wait
//	*         | target | up     | order
//	*         | *      | failed | order
//	*         | *      | *      | wait
func backRule(state resource.MemberState, b boots, at place) back {
	unbegun := state == resource.MemberWaiting || state == resource.MemberSkipped
	ended := state == resource.MemberSkipped || state == resource.MemberDone || state == resource.MemberFailed
	switch {
	case state == resource.MemberReturned, at == isGone && ended:
		return backNothing
	case at == isGone:
		return backLeft
	case unbegun && b == bootsOther:
		return backNothing
	case b == bootsOther && at == isUp:
		return backDone
	case state == resource.MemberReturning:
		return backWait
	case at == isUp || at == isFailed:
		return backOrder
	}
	return backWait
}

// giveBack returns servers to the revision before, within windows and room as they were
// begun, and with an approval where their disks are lost again.
func (r *run) giveBack() {
	var order, wait []string
	for _, name := range r.sorted() {
		m, s := r.st.Members[name], r.servers[name]
		switch backRule(m.State, bootsOf(s), s.place()) {
		case backNothing:
		case backLeft:
			r.come(name, m, s, resource.MemberSkipped, sawOther)
		case backDone:
			m.DueAt = nil
			r.set(name, m, resource.MemberReturned, "")
		case backWait:
			wait = append(wait, name)
		case backOrder:
			order = append(order, name)
		}
	}
	r.room = roomOf(r.in.Words, r.in.Spec.MaxUnavailable, r.servers, r.st.Members)
	for _, name := range wait {
		r.await(name, r.st.Members[name], r.servers[name])
	}
	wants := map[take][]string{}
	for _, name := range order {
		what := r.mayReturn(name, r.servers[name], r.room.left(name))
		wants[what] = append(wants[what], name)
		if what == takeBegin {
			r.giveOne(name, r.st.Members[name], r.servers[name])
		}
	}
	r.block(wants)
}

func (r *run) mayReturn(name string, s Server, room bool) take {
	return takeRule(r.st.Strategy, r.gate, spotOf(r.st.Strategy, s), true, r.approved(name), room)
}

// giveOne orders one back.
func (r *run) giveOne(name string, m resource.RolloutMember, s Server) {
	now := r.in.Now.UTC().Round(0)
	due := now.Add(r.in.Spec.Deadline.D())
	m.BegunAt, m.DueAt = &now, &due
	r.set(name, m, resource.MemberReturning, m.Reason)
	if s.Up {
		r.room.take(name)
	}
	r.orders = append(r.orders, Order{name, OrderReturn, now})
	r.at(due)
}

// await gives an order again that was not recorded, and says so when one that was has led
// to nothing: it is given once, for nobody knows what it has done.
func (r *run) await(name string, m resource.RolloutMember, s Server) {
	if m.State != resource.MemberReturning || m.BegunAt == nil {
		return
	}
	if !s.Ordered.Equal(*m.BegunAt) {
		if r.mayReturn(name, s, r.room.enough()) == takeBegin {
			r.orders = append(r.orders, Order{name, OrderReturn, *m.BegunAt})
		}
		return
	}
	if m.DueAt == nil {
		return
	}
	if !r.in.Now.Before(*m.DueAt) {
		m.Reason = fmt.Sprintf("it was not seen to boot the revision before by %s; it needs a look", m.DueAt.UTC().Format(time.RFC3339))
		m.DueAt = nil
		r.st.Members[name] = m
		return
	}
	r.at(*m.DueAt)
}
