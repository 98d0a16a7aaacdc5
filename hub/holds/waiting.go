package holds

import (
	"rackboot/hub/link"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// waiting finds the holds and the releases that wait for another document to be
// acknowledged. What was sent is not taken back: the agent may have ended a hold by it,
// and would begin it again while it is removed here.
func (r *Room) waiting(f plan.Fleet) (holds, releases map[string]bool) {
	holds, releases = map[string]bool{}, map[string]bool{}
	sent := map[string]link.SentHolds{} // by agent
	for _, h := range f.Holds {
		server, err := store.Peek[*resource.Server](r.cfg.Store.Objects, h.Spec.Server)
		work := err == nil && server.Status.Firmware != nil && r.cfg.Clock().Before(server.Status.Firmware.NotAfter)
		released := h.Status.ReleasedAt != nil
		if !released && !work {
			continue
		}
		rack, err := store.Peek[*resource.Rack](r.cfg.Store.Objects, h.Status.Rack)
		if err != nil || rack.Status.Agent == "" {
			continue
		}
		if _, read := sent[rack.Status.Agent]; !read {
			sent[rack.Status.Agent] = r.cfg.Link.Ledgers.SentTo(rack.Status.Agent)
		}
		held, freed := sent[rack.Status.Agent].Of(h.Metadata.Name)
		if released && r.cfg.Approvals.OverrideWaits(h, rack, r.cfg.Approvals.Stance(rack)) {
			releases[h.Metadata.Name] = true
		}
		if freed {
			continue
		}
		entry, known := r.cfg.Link.Ledgers.EntryAt(rack.Status.Agent, h.Spec.Server)
		switch {
		case !held && plan.HoldWaits(work, h.Spec.ForceDuringFirmware, known && entry != nil && entry.Firmware != nil):
			holds[h.Metadata.Name] = true
		case released && plan.ReleaseWaits(r.shallBeOn(h.Spec.Server), toldOf(entry, known)):
			releases[h.Metadata.Name] = true
		}
	}
	return holds, releases
}

func (r *Room) shallBeOn(server string) bool {
	if m := r.cfg.Store.Maintenances.Of(server); m != nil {
		return m.Metadata.DeletedAt == nil && m.Spec.ServerPower == resource.WantOn
	}
	claim := r.cfg.Store.Claims.Of(server)
	if claim == nil {
		s, err := store.Peek[*resource.Server](r.cfg.Store.Objects, server)
		if err != nil {
			return false
		}
		d, err := store.Peek[*resource.BootConfiguration](r.cfg.Store.Objects, plan.DiscoveryName(s))
		return err == nil && d.Metadata.DeletedAt == nil
	}
	return claim.Metadata.DeletedAt == nil && claim.Spec.Power == resource.WantOn
}

func toldOf(entry *message.ServerIntent, known bool) plan.Told {
	switch {
	case !known:
		return plan.ToldUnknown
	case entry != nil && entry.Power == resource.WantOn && !entry.Releasing:
		return plan.ToldOn
	}
	return plan.ToldOff
}
