package rollouts

import (
	"context"
	"errors"
	"reflect"
	"time"

	"rackboot/hub/events"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/plan/rollout"
	"rackboot/hub/revisions"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Roll takes the roll-out of a group a step further, as package rollout says: the status is
// stored before anything follows from it, and a hub that dies in between goes on from it.
// It answers with the group as it is then.
func (c *Room) Roll(ctx context.Context, p *revisions.Pass, g *resource.ServerGroup) (*resource.ServerGroup, error) {
	if g.Status.Revision == 0 {
		return g, nil
	}
	own, err := store.Get[*resource.ServerGroup](c.cfg.Objects, g.Metadata.Name)
	if err != nil || own.Metadata.UID != g.Metadata.UID || own.Status.Revision != g.Status.Revision {
		return g, nil //nolint:nilerr // the next pass sees what there is
	}
	seats, err := c.seats(ctx, p, own)
	if err != nil {
		return own, err
	}
	if err := c.beginRollout(ctx, p, own, seats); err != nil {
		return own, err
	}
	r := p.Revision(own, own.Status.Rollout.Revision)
	if r == nil {
		c.dealt(own, seats)
		return own, nil // it was pruned: nothing is rolled out any more
	}
	was := *own.Status.Rollout
	out := rollout.Step(c.rolloutInput(p, own, r, seats))
	p.At(out.RecheckAt)
	c.wantApprovals(own, out)
	if !sameRollout(was, out.Status) {
		own.Status.Rollout = &out.Status
		if err := c.cfg.Objects.Put(ctx, own); err != nil {
			return own, err
		}
		c.cfg.Crash.At("hub.rollout.stepped")
		c.tellRollout(ctx, own, was, out)
	}
	c.dealt(own, seats)
	if err := c.endedRollout(ctx, p, own, out.Status); err != nil {
		return own, err
	}
	if out.RollBack {
		if own, err = c.rollBack(ctx, p, own, r, out.Status); err != nil {
			return own, err
		}
	}
	if b := c.cfg.Revisions.BootedBy(p.Fleet, out.Stamp); out.Stamp != "" && b.Cfg != nil && revisions.HoldsImage(r, b.Digest) {
		err = c.cfg.Revisions.Stamp(ctx, r, b)
	}
	open, _, wrong := rollout.InWindow(c.rolloutTime(p, own), own.Spec.Rollout)
	return own, errors.Join(err, c.orders(ctx, p, own, out, seats), c.installReboots(ctx, p, own, seats, open && wrong == nil && !own.Spec.Rollout.Freeze))
}

// dealt lets the claims of a group be given what their place in its roll-out is.
func (c *Room) dealt(g *resource.ServerGroup, seats map[string]*seat) {
	claims := make(map[string]string, len(seats))
	for server, s := range seats {
		claims[s.claim.Metadata.UID] = server
	}
	for _, server := range c.cfg.Revisions.Dealt(g, claims) {
		c.cfg.Wake.Server(server)
	}
}

// proven says whether a revision is for more than canaries. One that is verified is its own proof: servers of
// the group booted it, whatever became of its entry and the entry's stamp since.
func (c *Room) proven(r *resource.GroupRevision) bool {
	return r.Status.Verified || c.cfg.Revisions.Unstamped(r) == ""
}

func (c *Room) rolloutInput(p *revisions.Pass, g *resource.ServerGroup, r *resource.GroupRevision, seats map[string]*seat) rollout.Input {
	return rollout.Input{
		Now: c.rolloutTime(p, g), Spec: g.Spec.Rollout, Status: *g.Status.Rollout, Servers: c.rolloutServers(p, g, r, seats),
		Stamped: c.proven(r), Approved: c.approvedFor(p, g, seats),
	}
}

// rolloutTime is the time as roll-outs are told it: whole seconds, which keep the status
// short, in the zone of the windows.
func (c *Room) rolloutTime(p *revisions.Pass, g *resource.ServerGroup) (now time.Time) {
	now = second(p)
	if local, err := g.Spec.Rollout.Local(now); err == nil {
		return local
	}
	return now // in which windows of another zone are not to be read, so that none is open
}

// sameRollout says whether two statuses are stored alike.
func sameRollout(a, b resource.RolloutStatus) bool {
	if len(a.Members) == 0 && len(b.Members) == 0 {
		a.Members, b.Members = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// beginRollout begins the roll-out of a group's current revision, unless there is one. The
// copy that an automatic return makes has none: the roll-out that failed returns its servers.
func (c *Room) beginRollout(ctx context.Context, p *revisions.Pass, g *resource.ServerGroup, seats map[string]*seat) error {
	r, was := p.Revision(g, g.Status.Revision), g.Status.Rollout
	switch {
	case r == nil && was != nil, was != nil && was.Revision == g.Status.Revision, was != nil && revisions.IsReturnOf(r, was):
		return nil
	case r == nil:
		return protocol.Errorf(protocol.CodeNotFound, "begin a roll-out", "revision %d of group %s is not there", g.Status.Revision, g.Metadata.Name)
	}
	if was != nil {
		over := rollout.Supersede(second(p), *was, r.Spec.Number)
		if err := c.endedRollout(ctx, p, g, over); err != nil {
			return err
		}
		c.cfg.Crash.At("hub.rollout.superseded")
	}
	next := rollout.Begin(second(p), g.Spec.Rollout, r.Spec.Number, before(p, g, r), c.rolloutServers(p, withRollout(g), r, seats))
	g.Status.Rollout = &next
	if err := c.cfg.Objects.Put(ctx, g); err != nil {
		return err
	}
	c.cfg.Crash.At("hub.rollout.begun")
	for _, s := range seats {
		s.member = next.Members[s.server.Metadata.Name]
	}
	c.cfg.Revisions.Event(ctx, g, "begins the roll-out of revision %d to %d servers in %d waves: %s", next.Revision, len(next.Members), next.Waves, next.Strategy)
	return nil
}

// withRollout is a group that has some roll-out, for those who look at its phase.
func withRollout(g *resource.ServerGroup) *resource.ServerGroup {
	if g.Status.Rollout != nil {
		return g
	}
	own := *g
	own.Status.Rollout = &resource.RolloutStatus{Phase: resource.RolloutWaiting}
	return &own
}

// before is the revision that a roll-out returns to: the last that was verified before it
// and boots something else; 0 is none.
func before(p *revisions.Pass, g *resource.ServerGroup, r *resource.GroupRevision) (number int) {
	for _, old := range p.History[g.Metadata.UID] {
		other := bootimages.Value(old.Spec.Images) != bootimages.Value(r.Spec.Images) || !reflect.DeepEqual(old.Spec.Stub, r.Spec.Stub)
		if old.Spec.Number < r.Spec.Number && old.Status.Verified && other {
			number = old.Spec.Number
		}
	}
	return number
}

// rollBack makes the copy of the revision before, once, and makes it current. The group is
// pinned to it, and the entry rejected.
func (c *Room) rollBack(ctx context.Context, p *revisions.Pass, g *resource.ServerGroup, from *resource.GroupRevision, st resource.RolloutStatus) (*resource.ServerGroup, error) {
	to := p.Revision(g, st.From)
	if g.Status.Revision != st.Revision || to == nil {
		return g, nil // it was made, or something newer was
	}
	var entry *resource.BootImage
	if b, err := store.Peek[*resource.BootImage](c.cfg.Objects, to.Spec.BootImage); err == nil && b.Digest() == to.Spec.BootImageDigest {
		entry = b
	}
	spec := bootimages.Rollback(bootimages.Next{
		Group: g, Current: from, History: p.History[g.Metadata.UID], Stamp: c.cfg.Revisions.StampOf(entry), By: events.HubName, Reason: st.Reason, At: p.Now,
	}, to, resource.CauseAutoRollback)
	r, err := c.cfg.Revisions.Create(ctx, spec, to.Status.Verified)
	if err != nil {
		return g, err
	}
	p.History[g.Metadata.UID] = append(p.History[g.Metadata.UID], r)
	c.cfg.Crash.At("hub.rollout.returned")
	return c.cfg.Revisions.Finish(ctx, p, g)
}

// orders records what the step wants done. What cannot be done yet is given again.
func (c *Room) orders(ctx context.Context, p *revisions.Pass, g *resource.ServerGroup, out rollout.Result, seats map[string]*seat) error {
	var errs []error
	for _, o := range out.Orders {
		s := seats[o.Server]
		revision := out.Status.Revision
		if o.Kind == rollout.OrderReturn {
			if revision = g.Status.Revision; revision == out.Status.Revision {
				continue // the copy is not there yet
			}
		}
		done, err := false, error(nil)
		switch {
		case s == nil:
		case out.Status.Strategy == resource.RolloutReprovision:
			done, err = c.orderInstall(ctx, g, o, s, p.Revision(g, revision))
		default:
			done, err = c.orderReboot(ctx, p, g, o, s, revision)
		}
		errs = append(errs, err)
		if done {
			c.ordered.WithLabelValues(string(o.Kind)).Inc()
		}
	}
	return errors.Join(errs...)
}
