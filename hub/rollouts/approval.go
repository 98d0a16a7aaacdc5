package rollouts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"rackboot/hub/approval"
	"rackboot/hub/events"
	"rackboot/hub/plan"
	"rackboot/hub/plan/rollout"
	"rackboot/hub/revisions"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// installs is a roll-out that asks to have servers of its group installed anew.
type installs struct {
	subject resource.ApprovalSubject
}

func installsOf(g *resource.ServerGroup, ro *resource.RolloutStatus) installs {
	s := resource.ApprovalSubject{Target: resource.TargetOf(g), Revision: ro.Revision, Wave: ro.Wave}
	if ro.Phase == resource.RolloutRolledBack { // all at once
		s.Returns, s.Wave = true, 0
	}
	return installs{s}
}

// words are what people read who are to approve it.
func (i installs) words() string {
	s := i.subject
	if s.Returns {
		return fmt.Sprintf("group %s returns from revision %d: these servers are installed anew, and what is on their disks is lost", s.Name, s.Revision)
	}
	return fmt.Sprintf("roll-out of revision %d of group %s, wave %d: these servers are installed anew, and what is on their disks is lost", s.Revision, s.Name, s.Wave)
}

// asked says whether the roll-out asked for an approval, in this wave or an earlier one: who
// waited then was approved with that.
func (i installs) asked(by *resource.ApprovalSubject) bool {
	if by == nil || by.Wave > i.subject.Wave {
		return false
	}
	own := *by
	own.Wave = i.subject.Wave
	return own == i.subject
}

// approvedFor says which servers may be installed anew: those that an approval names which
// was asked for by this roll-out, after the order before.
func (c *Room) approvedFor(p *revisions.Pass, g *resource.ServerGroup, seats map[string]*seat) func(string) bool {
	if g.Status.Rollout.Strategy != resource.RolloutReprovision {
		return nil
	}
	ok, mine := map[string]bool{}, installsOf(g, g.Status.Rollout)
	for _, r := range c.cfg.Approvals.Open() {
		for _, name := range r.Targets {
			if s := seats[name]; s != nil {
				ok[name] = ok[name] || mine.approvedBy(r, p.Fleet.RackOf(name), s.claim, s.seen.Order, p.Now)
			}
		}
	}
	return func(server string) bool { return ok[server] }
}

// approvedBy reports whether an approval is one by which the server of a claim may be installed
// anew.
func (i installs) approvedBy(r store.StoredApproval, rack string, cl *resource.Claim, order *resource.RolloutTask, now time.Time) bool {
	return r.State == resource.ApprovalApproved && r.Class == resource.ApproveReprovision && now.Before(r.NotAfter) && i.asked(r.Subject) &&
		r.Rack == rack && slices.Contains(r.Targets, cl.Status.Server) && approval.Covers(r.Approval, installNeed(rack, cl)) &&
		(order == nil || !order.Installs || !r.CreatedAt.Truncate(time.Second).Before(order.At))
}

func installNeed(rack string, cl *resource.Claim) approval.Need {
	return approval.Need{
		Class: resource.ApproveReprovision, Rack: rack, Target: cl.Status.Server, Asked: []string{events.HubName},
		Boot: &resource.ApprovedBoot{Server: cl.Status.Server, Owner: cl.Metadata.UID},
	}
}

// wantApprovals remembers for this pass whom a roll-out waits for an approval of.
func (c *Room) wantApprovals(g *resource.ServerGroup, out rollout.Result) {
	for _, name := range out.Unapproved {
		c.waits.add(name, installsOf(g, &out.Status))
	}
}

// Needs are the approvals of one rack that roll-outs wait for. What the groups waited for
// is of their last turn: whether they still do is read again.
func (c *Room) Needs(f plan.Fleet, rack *resource.Rack) (needs []approval.Need) {
	waits := c.waits.all()
	for _, name := range slices.Sorted(maps.Keys(waits)) {
		cl := f.ClaimOf(name)
		if cl == nil || f.RackOf(name) != rack.Metadata.Name || !c.stillWaits(waits[name], rack.Metadata.Name, cl, f.ConfigOf(cl)) {
			continue
		}
		asks, need := waits[name], installNeed(rack.Metadata.Name, cl)
		need.Subject, need.Reason = &asks.subject, asks.words()
		needs = append(needs, need)
	}
	return needs
}

// stillWaits reports whether a roll-out goes on, and no approval of the server has come since.
func (c *Room) stillWaits(asks installs, rack string, cl *resource.Claim, cfg *resource.BootConfiguration) bool {
	g, err := store.Peek[*resource.ServerGroup](c.cfg.Objects, asks.subject.Name)
	if err != nil || g.Status.Rollout == nil || installsOf(g, g.Status.Rollout) != asks || g.Status.Rollout.Phase == resource.RolloutPaused {
		return false
	}
	var order *resource.RolloutTask
	if cfg != nil && cfg.Status.Seen != nil {
		order = cfg.Status.Seen.Order
	}
	return !slices.ContainsFunc(c.cfg.Approvals.OpenOf(rack), func(r store.StoredApproval) bool {
		return asks.approvedBy(r, rack, cl, order, c.cfg.Clock())
	})
}

// Pause pauses the roll-out that asked for an approval which was denied, or that
// nobody gave: it is not asked for again until somebody resumes.
func (c *Room) Pause(ctx context.Context, r store.StoredApproval, why string) error {
	if r.Subject == nil {
		return nil
	}
	g, err := store.Peek[*resource.ServerGroup](c.cfg.Objects, r.Subject.Name)
	if err != nil {
		return nil //nolint:nilerr // it is gone
	}
	ro := g.Status.Rollout
	if ro == nil || ro.Strategy != resource.RolloutReprovision || ro.Phase.Over() || ro.Phase == resource.RolloutPaused || !installsOf(g, ro).asked(r.Subject) ||
		!slices.ContainsFunc(r.Targets, func(name string) bool { return ro.Members[name].State == resource.MemberWaiting }) {
		return nil
	}
	own := store.Copy(c.cfg.Objects, g)
	next, err := rollout.Do(c.cfg.Clock().UTC().Truncate(time.Second), *ro, rollout.Pause, "", "approval "+r.ID+": "+why)
	if err != nil {
		return err
	}
	own.Status.Rollout = &next
	if err := c.cfg.Objects.Put(ctx, own); err != nil {
		return err
	}
	c.cfg.Crash.At("hub.rollout.unapproved")
	c.cfg.Revisions.Event(ctx, own, "roll-out of revision %d is paused: %s", next.Revision, next.Reason)
	return nil
}
