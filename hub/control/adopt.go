package control

import (
	"context"
	"slices"

	"rackboot/hub/store"
	"rackboot/protocol"
)

// adopt takes over holds that an agent enforces and no document names: the hub was
// restored from a copy that is older than they are. Only so can they be released. An
// agent of version 1 says only that one of the server's holds is missing, and not
// which and whose.
func (c *Control) adopt(ctx context.Context, a *protocol.Agent, s protocol.ServerReport) error {
	name := a.Metadata.Name
	missing := slices.ContainsFunc(s.Conditions, func(cond protocol.ConditionState) bool { return cond.Code == protocol.CondHoldMissing })
	missing = missing && c.contacts.see(name).stage != stageBehind
	for _, hr := range s.Holds {
		if hr.Hold == nil && !missing {
			continue
		}
		_, err := store.Get[*protocol.Hold](c.cfg.Store, hr.ID)
		if protocol.CodeOf(err) != protocol.CodeNotFound || c.mirror.wasReleased(hr.ID) {
			continue
		}
		h := adopted(s.Server, hr, name)
		h.Status.Rack = a.Spec.RackRef.Name
		if err := c.cfg.Store.Put(ctx, h); err != nil {
			return err
		}
		c.log.Warn("hold adopted", "hold", hr.ID, "server", s.Server, "agent", name)
	}
	return nil
}

// adopted is the hold that a report names, with its particulars where they are given.
func adopted(server string, hr protocol.HoldReport, agent string) *protocol.Hold {
	h := &protocol.Hold{Spec: protocol.HoldSpec{
		Server: server, Key: "adopted-" + hr.ID, Owner: "hub", Mode: protocol.StopHard,
		Reason: "agent " + agent + " enforces it, and this hub did not know it",
	}}
	h.Metadata.Name = hr.ID
	was := hr.Hold
	if was == nil || was.ID != hr.ID || was.Server != server {
		return h
	}
	full := *h
	full.Spec.Key, full.Spec.Owner, full.Spec.Mode = was.Key, was.Owner, was.Mode
	full.Spec.SoftTimeout, full.Spec.Ref = protocol.Duration(was.SoftTimeout), was.Ref
	full.Default()
	if len(full.Validate()) > 0 {
		return h // what cannot be stored is not worth losing the hold for
	}
	return &full
}
