package holds

import (
	"context"
	"errors"

	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Released takes that a released hold is off the disk of its rack's agent; the rack's next turn removes it.
func (r *Room) Released(a *resource.Agent, hold string) {
	h, err := store.Peek[*resource.Hold](r.cfg.Store.Objects, hold)
	if err != nil || h.Status.ReleasedAt == nil || h.Status.Rack != a.Spec.RackRef.Name {
		return // it is gone, or none of this agent's
	}
	r.cfg.Reports.Release(hold, a.Metadata.Name)
	r.cfg.Wake.Holds.Wake(h.Status.Rack)
}

// leave removes the released holds of a rack that are off its agent's disk: the agent has said so, or
// has acknowledged a document with the release. Only here holds are removed.
func (r *Room) leave(ctx context.Context, name string) error {
	var released []*resource.Hold
	for _, h := range store.Find(r.cfg.Store.Objects, store.HoldsByRack, name) {
		if h.Status.ReleasedAt != nil {
			released = append(released, h)
		}
	}
	rack, err := store.Peek[*resource.Rack](r.cfg.Store.Objects, name)
	if err != nil || rack.Status.Agent == "" || len(released) == 0 || !r.cfg.Start.WorksFor(rack.Status.Agent) {
		return nil //nolint:nilerr // it is gone, and nobody has it
	}
	if r.cfg.Link.MayBeTwo(rack.Status.Agent) {
		return nil // of two the one may have the release, and the other the hold
	}
	acknowledged, err := r.acknowledged(rack.Status.Agent)
	errs := []error{err}
	for _, h := range released {
		id := h.Metadata.Name
		if r.cfg.Reports.WasReleased(id) || acknowledged[id] && !r.cfg.Approvals.MayLie(h, rack) {
			errs = append(errs, r.remove(ctx, h, rack.Status.Agent))
		}
	}
	return errors.Join(errs...)
}

// acknowledged are the releases in an agent's hold document, if it has acknowledged that.
func (r *Room) acknowledged(agent string) (map[string]bool, error) {
	l, err := r.cfg.Store.Ledgers.Peek(agent)
	if err != nil {
		return nil, err
	}
	sent, ok := l.Sent[message.LeafHold]
	if !ok || l.Acked[message.LeafHold] != sent.Head {
		return nil, nil
	}
	d, err := r.cfg.Link.Ledgers.HoldDoc(agent, sent)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, rel := range d.Releases {
		out[rel.HoldID] = true
	}
	return out, nil
}

// remove forgets a hold whose release is on the disk of its agent, once it is in the record.
func (r *Room) remove(ctx context.Context, h *resource.Hold, agent string) error {
	if err := r.cfg.Events.AuditHold(ctx, h); err != nil {
		return err
	}
	r.cfg.Reports.Release(h.Metadata.Name, agent)
	if err := r.cfg.Store.Objects.Remove(ctx, h); err != nil {
		return err
	}
	r.cfg.Crash.At("hub.hold.removed")
	return nil
}
