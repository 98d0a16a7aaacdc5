package control

import (
	"context"
	"errors"

	"rackboot/hub/events"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Laid notes the holds of a hold document that its agent has acknowledged: they are
// Enforced from then on, and people need not wait for the report that says so too.
func (c *Control) Laid(agent string, d message.HoldDoc) {
	laid := map[string]bool{}
	for _, h := range d.Holds {
		laid[h.ID] = true
		if !c.reports.Enforced(agent, h.ID) {
			c.enforcedNow(h.ID)
		}
	}
	c.reports.Lay(agent, laid)
}

// enforcedNow measures how long a hold took to the agent's disk. What an earlier run
// of the hub accepted, or an agent, is not known to have been on its way.
func (c *Control) enforcedNow(id string) {
	h, err := store.Peek[*resource.Hold](c.cfg.Store, id)
	if err != nil || h.Metadata.CreatedAt == nil || h.Metadata.CreatedAt.Before(c.began) || h.Metadata.Annotations[events.AnnotationAdopted] != "" {
		return
	}
	if !c.reports.FirstTime(id) {
		return // on another disk of the agent
	}
	c.metrics.enforced.Observe(c.cfg.Clock().Sub(*h.Metadata.CreatedAt).Seconds())
}

// Released removes a hold whose release is on its agent's disk.
func (c *Control) Released(ctx context.Context, a *resource.Agent, hold string) error {
	h, err := store.Get[*resource.Hold](c.cfg.Store, hold)
	if err != nil || h.Status.ReleasedAt == nil || h.Status.Rack != a.Spec.RackRef.Name {
		return nil //nolint:nilerr // it is gone, or none of this agent's
	}
	return c.removeHold(ctx, h, a.Metadata.Name)
}

// removeReleased removes the holds whose release is in an acknowledged document. The
// acknowledgement itself does so, unless the hub died in between, or it was lost and
// a Hello took its place.
func (c *Control) removeReleased(ctx context.Context, f plan.Fleet) error {
	released := map[string]*resource.Hold{}
	for _, h := range f.Holds {
		if h.Status.ReleasedAt != nil {
			released[h.Metadata.Name] = h
		}
	}
	if len(released) == 0 {
		return nil
	}
	var errs []error
	for _, r := range f.Racks {
		agent := r.Status.Agent
		if agent == "" {
			continue
		}
		l, err := c.cfg.Store.PeekLedger(agent)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		sent, ok := l.Sent[message.LeafHold]
		if !ok || l.Acked[message.LeafHold] != sent.Head {
			continue
		}
		d, err := c.Link.HoldDoc(agent, sent)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, rel := range d.Releases {
			if h := released[rel.HoldID]; h != nil && h.Status.Rack == r.Metadata.Name && !c.Approvals.MayLie(h, r) {
				err := c.removeHold(ctx, h, agent)
				if protocol.CodeOf(err) == protocol.CodeConflict {
					continue // the acknowledgement itself removes it just now
				}
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// removeHold forgets a hold whose release is on the disk of its agent, and in the
// record.
func (c *Control) removeHold(ctx context.Context, h *resource.Hold, agent string) error {
	if err := c.Events.AuditHold(ctx, h); err != nil {
		return err
	}
	c.reports.Release(h.Metadata.Name, agent)
	if err := c.cfg.Store.Remove(ctx, h); err != nil {
		return err
	}
	c.cfg.Crash.At("hub.hold.removed")
	return nil
}
