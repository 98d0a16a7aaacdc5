package holds

import (
	"context"
	"errors"
	"strings"

	"rackboot/hub/events"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Adopt takes over holds that an agent enforces and no document names: the hub was
// restored from a copy that is older than they are, or they were placed at the agent.
// Only so can they be released here. One whose release is on record here is back because the
// agent's disk is an older copy; it is released once more.
func (r *Room) Adopt(ctx context.Context, a *resource.Agent, s resource.ServerReport) error {
	name := a.Metadata.Name
	var errs []error
	for _, hr := range s.Holds {
		if hr.Released != nil || hr.Word == resource.HoldReleased {
			errs = append(errs, r.endedThere(ctx, a, s.Server, hr))
			continue
		}
		if hr.Hold == nil {
			continue
		}
		_, err := store.Peek[*resource.Hold](r.cfg.Store.Objects, hr.ID)
		if protocol.CodeOf(err) != protocol.CodeNotFound || r.cfg.Reports.WasReleased(hr.ID) {
			continue
		}
		if !protocol.ValidName(hr.ID) {
			r.cfg.Logger.Error("a hold cannot be adopted: its id is no name", "hold", hr.ID, "server", s.Server, "agent", name)
			continue
		}
		if back, err := r.releaseAgain(ctx, a, s.Server, hr.ID); back || err != nil {
			errs = append(errs, err)
			continue
		}
		h := adopted(s.Server, hr, name)
		h.Status.Rack = a.Spec.RackRef.Name
		err = r.cfg.Store.Objects.Put(ctx, h)
		if protocol.CodeOf(err) == protocol.CodeConflict { // its owner has placed it here again since
			h.Spec.Key = adoptedKey(hr.ID)
			err = r.cfg.Store.Objects.Put(ctx, h)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		r.cfg.Logger.Warn("hold adopted", "hold", hr.ID, "server", s.Server, "agent", name, "owner", h.Spec.Owner)
		r.cfg.Crash.At("hub.hold.adopted")
	}
	return errors.Join(errs...)
}

// endedThere records that a hold ended at its agent: somebody released it there, or
// its time was over. It is off the agent's disk, so that it is removed here too. A hold of
// another server, which a defect or a forged report may name, is left alone.
func (r *Room) endedThere(ctx context.Context, a *resource.Agent, server string, hr resource.HoldReport) error {
	name := a.Metadata.Name
	h, err := store.Get[*resource.Hold](r.cfg.Store.Objects, hr.ID)
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if h.Spec.Server != server || h.Status.Rack != a.Spec.RackRef.Name {
		r.cfg.Logger.Error("an agent released the hold of another server", "hold", hr.ID, "server", server, "agent", name)
		return nil
	}
	if h.Status.ReleasedAt == nil {
		by, reason := "", ""
		if said := hr.Released; said != nil {
			by, reason = said.By, said.Reason
		}
		if by != events.ByExpiry && !strings.HasPrefix(by, events.LocalOwner) {
			by = events.LocalOwner + name // nobody of the hub's releases anything there
		}
		if len(reason) > store.MaxReason {
			reason = reason[:store.MaxReason]
		}
		if _, err = r.cfg.Store.Holds.Release(ctx, hr.ID, by, strings.ToValidUTF8(reason, "")); err != nil {
			return err
		}
		r.cfg.Crash.At("hub.hold.ended")
	}
	r.Released(a, hr.ID)
	return nil
}

// adoptedKey is the key of an adopted hold that cannot have its own.
func adoptedKey(id string) string { return "adopted-" + id }

// adopted is the hold that a report names, with its particulars where they are given.
func adopted(server string, hr resource.HoldReport, agent string) *resource.Hold {
	h := &resource.Hold{Spec: resource.HoldSpec{Server: server, Owner: events.HubName, HoldTerms: resource.HoldTerms{
		Key: adoptedKey(hr.ID), Mode: resource.StopHard, Reason: "agent " + agent + " enforces it, and this hub did not know it",
	}}}
	h.Metadata.Name = hr.ID
	h.Metadata.Annotations = map[string]string{events.AnnotationAdopted: agent}
	was := hr.Hold
	if was.ID != hr.ID || was.Server != server {
		return h
	}
	full := *h
	full.Spec = was.HoldSpec
	full.Status.ConfirmedDown = was.ConfirmedDown
	full.Default()
	if len(full.Validate()) > 0 {
		return h // what cannot be stored is not worth losing the hold for
	}
	return &full
}
