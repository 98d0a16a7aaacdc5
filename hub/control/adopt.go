package control

import (
	"context"
	"slices"

	"rackboot/hub/store"
	"rackboot/protocol"
)

// adopt takes over holds that an agent enforces and no document names: the hub was
// restored from a copy that is older than they are. Only so can they be released.
func (c *Control) adopt(ctx context.Context, a *protocol.Agent, s protocol.ServerReport) error {
	missing := slices.ContainsFunc(s.Conditions, func(cond protocol.ConditionState) bool { return cond.Code == protocol.CondHoldMissing })
	if !missing || c.sends.isBehind(a.Metadata.Name) {
		return nil
	}
	for _, hr := range s.Holds {
		_, err := store.Get[*protocol.Hold](c.cfg.Store, hr.ID)
		if protocol.CodeOf(err) != protocol.CodeNotFound || c.mirror.wasReleased(hr.ID) {
			continue
		}
		h := &protocol.Hold{
			Spec: protocol.HoldSpec{
				Server: s.Server, Key: "adopted-" + hr.ID, Owner: "hub", Mode: protocol.StopHard,
				Reason: "agent " + a.Metadata.Name + " enforces it, and this hub did not know it",
			},
			Status: protocol.HoldStatus{Rack: a.Spec.RackRef.Name},
		}
		h.Metadata.Name = hr.ID
		if err := c.cfg.Store.Put(ctx, h); err != nil {
			return err
		}
		c.log.Warn("hold adopted", "hold", hr.ID, "server", s.Server, "agent", a.Metadata.Name)
	}
	return nil
}
