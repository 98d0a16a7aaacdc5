package revisions

import (
	"fmt"

	"rackboot/hub/images"
	"rackboot/hub/plan"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Taken is the revision of a group that a server is given; the zero value is of no group.
type Taken struct {
	Revision *resource.GroupRevision
	// Turn is that no wave of a roll-out is to come first.
	Turn bool
	cond *resource.ConditionState // why there is none
}

// Number is that of the revision; 0 without one.
func (t Taken) Number() int {
	if t.Revision == nil {
		return 0
	}
	return t.Revision.Spec.Number
}

// Group is whose the revision is; empty without one.
func (t Taken) Group() string {
	if t.Revision == nil {
		return ""
	}
	return t.Revision.Spec.Group
}

// TakeForClaim is the revision for a claim; the zero value where it names no group.
func (c *Room) TakeForClaim(cl *resource.Claim, srv *resource.Server) Taken {
	if cl.Spec.ImageFrom == nil || srv == nil {
		return Taken{}
	}
	g, err := store.Peek[*resource.ServerGroup](c.cfg.Objects, cl.Spec.ImageFrom.Group)
	if err != nil {
		return noRevision(cl.Spec.ImageFrom.Group)
	}
	ro := g.Status.Rollout
	back := ro != nil && IsReturnOf(c.RevisionOf(g, g.Status.Revision), ro)
	t := c.take(g, bootimages.TakeIn{Canary: bootimages.Canary(g, srv.Metadata.Name), Placed: c.places.placed(g, cl)})
	t.Turn = turn(g, srv.Metadata.Name, back)
	return t
}

// Turn says whether a server that has a configuration may be given another one.
func turn(g *resource.ServerGroup, server string, back bool) bool {
	ro := g.Status.Rollout
	if ro == nil {
		return true
	}
	m, member := ro.Members[server]
	return turnRule(ro.Revision == g.Status.Revision, back, ro.Strategy == resource.RolloutOnNextBoot || ro.Phase == resource.RolloutCompleted, member && m.BegunAt != nil)
}

// turnRule says whether the configuration of a server that has one follows its group. The
// first row that fits decides.
//
//	of current | return | next boot | begun | turn
//	no         | yes    | *         | *     | yes
//	no         | no     | *         | *     | no
//	yes        | *      | yes       | *     | yes
//	yes        | *      | no        | yes   | yes
//	yes        | *      | no        | no    | no
//
// of current is that the roll-out is of the current revision; before it has begun nobody
// has a turn. return is that the current revision is the one by which a failed roll-out is
// rolled back. next boot is that whoever boots takes the revision: the strategy says so, or
// the roll-out is complete. begun is that the server was ordered to.
func turnRule(current, back, next, begun bool) bool {
	if !current {
		return back
	}
	return next || begun
}

// take is the revision of a group for a server of whom in says what it is in a roll-out.
func (c *Room) take(g *resource.ServerGroup, in bootimages.TakeIn) Taken {
	current := c.RevisionOf(g, g.Status.Revision)
	in.Verified = g.Status.Verified
	why := ""
	if current != nil {
		in.Current, why = g.Status.Revision, c.Unstamped(current)
		in.Stamped = why == ""
	}
	switch bootimages.Taken(in) {
	case bootimages.TakeCurrent:
		return Taken{Revision: current}
	case bootimages.TakeVerified:
		if r := c.RevisionOf(g, g.Status.Verified); r != nil {
			return Taken{Revision: r}
		}
	case bootimages.TakeNothing:
	}
	if current == nil {
		return noRevision(g.Metadata.Name)
	}
	return Taken{cond: &resource.ConditionState{Code: resource.CondWaitingForStamp, Message: fmt.Sprintf("group %s, revision %d: %s", g.Metadata.Name, g.Status.Revision, why)}}
}

func noRevision(group string) Taken {
	return Taken{cond: &resource.ConditionState{Code: resource.CondNoRevision, Message: "group " + group}}
}

// RevisionOf is a group's revision of a number; nil if there is none.
func (c *Room) RevisionOf(g *resource.ServerGroup, number int) *resource.GroupRevision {
	r, err := store.Peek[*resource.GroupRevision](c.cfg.Objects, resource.GroupRevisionName(g.Metadata.Name, number))
	if err != nil || r.Spec.GroupUID != g.Metadata.UID {
		return nil
	}
	return r
}

// TakenImage is a revision's image for a server, with kernel arguments.
func (c *Room) TakenImage(t Taken, srv *resource.Server, policy resource.BootPolicy, arguments string) (*resource.Image, *resource.ConditionState) {
	if t.Revision == nil {
		return nil, t.cond
	}
	img, err := t.Revision.ImageFor(srv.Architecture())
	switch {
	case protocol.CodeOf(err) == protocol.CodeConflict:
		return nil, images.Unresolved(err)
	case err != nil:
		return nil, &resource.ConditionState{Code: resource.CondImageInvalid, Message: err.Error()}
	}
	if err := c.cfg.Images.Require(img, policy.FirstBoot.Target()); err != nil {
		return nil, images.Unresolved(err)
	}
	full, err := plan.WithArguments(img, srv.Spec.KernelArgs, arguments)
	if err != nil {
		return nil, images.Unresolved(err)
	}
	return &full, nil
}

// ClaimData is the user data of a claim: its own, or else that of the revision.
func (c *Room) ClaimData(cl *resource.Claim, t Taken) (*resource.IgnitionRef, *resource.ConditionState) {
	if cl.Spec.IgnitionSecretRef != nil || t.Revision == nil {
		return c.cfg.Env.UserData(cl.Spec.IgnitionSecretRef)
	}
	return c.revisionData(t.Revision)
}

func (c *Room) revisionData(r *resource.GroupRevision) (*resource.IgnitionRef, *resource.ConditionState) {
	if r.Spec.Stub == nil {
		return nil, nil
	}
	if _, err := c.cfg.Env.OpenIgnition(*r.Spec.Stub); err != nil {
		return nil, &resource.ConditionState{Code: resource.CondUserDataInvalid, Message: err.Error()}
	}
	return r.Spec.Stub, nil
}

// SeenBoot is what is known of a group's image for a maintenance or a discovery, which
// are no canaries.
func (c *Room) SeenBoot(from *resource.ImageFrom, srv *resource.Server, policy resource.BootPolicy, arguments string) plan.BootSeen {
	t := noRevision(from.Group)
	if g, err := store.Peek[*resource.ServerGroup](c.cfg.Objects, from.Group); err == nil {
		t = c.take(g, bootimages.TakeIn{Placed: true})
	}
	img, cond := c.TakenImage(t, srv, policy, arguments)
	if cond != nil {
		state := plan.ImageFailing // it comes with the group
		if images.Refused(cond.Code) {
			state = plan.ImageInvalid
		}
		return plan.BootSeen{State: state, Code: cond.Code, Message: cond.Message}
	}
	data, cond := c.revisionData(t.Revision)
	if cond != nil {
		return plan.BootSeen{State: plan.ImageInvalid, Code: cond.Code, Message: cond.Message}
	}
	return plan.BootSeen{State: plan.ImageReady, Image: img, Ignition: data, From: t.Revision}
}

// OfRevision names the revision that something is from; empty without one.
func OfRevision(seen plan.BootSeen) (group string, revision int) {
	if seen.From == nil {
		return "", 0
	}
	return seen.From.Spec.Group, seen.From.Spec.Number
}

// IsReturnOf says whether a revision is the copy by which a roll-out that failed is rolled
// back.
func IsReturnOf(r *resource.GroupRevision, ro *resource.RolloutStatus) bool {
	return r != nil && r.Spec.Cause == resource.CauseAutoRollback && r.Spec.Parent == ro.Revision && ro.Phase == resource.RolloutRolledBack
}
