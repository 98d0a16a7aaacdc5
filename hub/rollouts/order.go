package rollouts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"rackboot/hub/events"
	"rackboot/hub/plan/rollout"
	"rackboot/hub/revisions"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// rebootID names the reboot of an order: it is the same for the same, so that a hub that
// dies before it has noted the order finds it asked for.
func rebootID(server string, kind string, at time.Time, try int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d %d", server, kind, at.UnixNano(), try))
	return "ro" + hex.EncodeToString(sum[:12])
}

// undone says whether a reboot has ended without having been begun.
func undone(o resource.Outcome) bool {
	return o == resource.OutcomeExpired || o == resource.OutcomeRefused
}

// orderNow is the order of a server as it is by now: one that was asked for and not noted is
// noted, and one whose reboot was not begun is asked for again, or forgotten where nothing
// was changed for it: then the roll-out gives another.
func (c *Room) orderNow(s *seat, o *resource.RolloutTask) *resource.RolloutTask {
	if at := s.member.BegunAt; at != nil && (o == nil || o.At.Before(*at)) {
		for _, kind := range []rollout.OrderKind{rollout.OrderReboot, rollout.OrderReturn} {
			id := rebootID(s.server.Metadata.Name, string(kind), *at, 0)
			if q, err := c.cfg.Requests.Get(id); err == nil && !undone(q.Report.Outcome) {
				return &resource.RolloutTask{Kind: string(kind), At: *at, Request: id}
			}
		}
	}
	if o == nil || o.Request == "" {
		return o
	}
	if q, err := c.cfg.Requests.Get(o.Request); err != nil || !undone(q.Report.Outcome) {
		return o
	}
	if !o.Installs {
		return nil
	}
	next := *o
	next.Request, next.Tries = "", o.Tries+1
	return &next
}

// orderReboot asks for the reboot of a server into the revision that it is to boot, once the
// rack has all of its files. Until then nothing is recorded, and the order is given again.
func (c *Room) orderReboot(ctx context.Context, p *revisions.Pass, g *resource.ServerGroup, o rollout.Order, s *seat, revision int) (bool, error) {
	if s.cfg == nil || s.cfg.Spec.Group != g.Metadata.Name || s.cfg.Spec.Revision != revision || !s.ready() {
		return false, nil
	}
	id := rebootID(o.Server, string(o.Kind), o.At, 0)
	if q, err := c.cfg.Requests.Get(id); err == nil && undone(q.Report.Outcome) {
		return false, nil // it is taken back when its time is over
	}
	if err := c.askReboot(ctx, p, g, s, id); err != nil {
		return false, err
	}
	next := s.seen
	next.Order = &resource.RolloutTask{Kind: string(o.Kind), At: o.At, Request: id}
	if err := c.note(ctx, s, next); err != nil {
		return false, err
	}
	c.cfg.Crash.At("hub.rollout.ordered")
	return true, nil
}

// askReboot makes a request for a soft reboot, unless there is one of the name.
func (c *Room) askReboot(ctx context.Context, p *revisions.Pass, g *resource.ServerGroup, s *seat, id string) error {
	if _, err := c.cfg.Requests.Get(id); err == nil {
		return nil
	}
	now := c.cfg.Clock().UTC()
	q := store.StoredRequest{
		Request: resource.Request{
			ID: id, Server: s.server.Metadata.Name, Action: resource.RequestReboot, Mode: resource.StopSoft, By: events.HubName,
			NotAfter:     now.Add(g.Spec.Rollout.Deadline.D()),
			Precondition: resource.Precondition{OwnerUID: s.claim.Metadata.UID}, Ref: "roll-out of " + g.Metadata.Name + " " + id,
		},
		Rack: p.Fleet.RackOf(s.server.Metadata.Name), CreatedAt: now,
	}
	q.Report = resource.RequestReport{ID: id, Outcome: resource.OutcomePending, At: now}
	if _, err := c.cfg.Requests.Create(ctx, q); err != nil {
		return err
	}
	c.cfg.Crash.At("hub.rollout.asked")
	return nil
}
