package control

import (
	"rackboot/hub/link"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
)

// waiting finds the holds and the releases that wait for another document to be
// acknowledged. What was sent is not taken back: the agent may have ended a hold by it,
// and would begin it again while its acknowledgement removes it here.
func (c *Control) waiting(f plan.Fleet) (holds, releases map[string]bool) {
	holds, releases = map[string]bool{}, map[string]bool{}
	sent := map[string]sentHolds{} // by agent
	for _, h := range f.Holds {
		server, err := store.Peek[*protocol.Server](c.cfg.Store, h.Spec.Server)
		work := err == nil && server.Status.Firmware != nil && c.cfg.Clock().Before(server.Status.Firmware.NotAfter)
		released := h.Status.ReleasedAt != nil
		if !released && !work {
			continue
		}
		r, err := store.Peek[*protocol.Rack](c.cfg.Store, h.Status.Rack)
		if err != nil || r.Status.Agent == "" {
			continue
		}
		if _, read := sent[r.Status.Agent]; !read {
			sent[r.Status.Agent] = c.sentTo(r.Status.Agent)
		}
		held, freed := sent[r.Status.Agent].of(h.Metadata.Name)
		if released && c.overrideWaits(h, r, c.stance(r)) {
			releases[h.Metadata.Name] = true
		}
		if freed {
			continue
		}
		entry, known := c.entryAt(r.Status.Agent, h.Spec.Server)
		switch {
		case !held && plan.HoldWaits(work, h.Spec.ForceDuringFirmware, known && entry != nil && entry.Firmware != nil):
			holds[h.Metadata.Name] = true
		case released && plan.ReleaseWaits(c.shallBeOn(h.Spec.Server), toldOf(entry, known)):
			releases[h.Metadata.Name] = true
		}
	}
	return holds, releases
}

func (c *Control) shallBeOn(server string) bool {
	if m := c.cfg.Store.MaintenanceOf(server); m != nil {
		return m.Metadata.DeletedAt == nil && m.Spec.ServerPower == protocol.WantOn
	}
	claim := c.cfg.Store.ClaimOf(server)
	if claim == nil {
		s, err := store.Peek[*protocol.Server](c.cfg.Store, server)
		if err != nil {
			return false
		}
		d, err := store.Peek[*protocol.BootConfiguration](c.cfg.Store, plan.DiscoveryName(s))
		return err == nil && d.Metadata.DeletedAt == nil
	}
	return claim.Metadata.DeletedAt == nil && claim.Spec.Power == protocol.WantOn
}

// sentHolds is what the newest hold document of an agent has: true for a hold, false
// for its release.
type sentHolds map[string]bool

func (s sentHolds) of(hold string) (held, freed bool) {
	held, there := s[hold]
	return held, there && !held
}

func (c *Control) sentTo(agent string) sentHolds {
	l, err := c.cfg.Store.PeekLedger(agent)
	if err != nil {
		return nil
	}
	sent, ok := l.Sent[protocol.LeafHold]
	if !ok {
		return nil
	}
	d, err := c.Link.HoldDoc(agent, sent)
	if err != nil {
		return nil
	}
	out := sentHolds{}
	for _, h := range d.Holds {
		out[h.ID] = true
	}
	for _, r := range d.Releases {
		out[r.HoldID] = false
	}
	return out
}

// entryAt is a server's entry in the documents of an agent, nil where none names it; it
// is not known before the newest ones were acknowledged.
func (c *Control) entryAt(agent, server string) (entry *protocol.ServerIntent, known bool) {
	l, err := c.cfg.Store.PeekLedger(agent)
	if err != nil {
		return nil, false
	}
	for i := 0; ; i++ {
		sent, ok := l.Sent[link.RackLeaf(i)]
		if !ok {
			return nil, i > 0
		}
		var d protocol.RackDoc
		if l.Acked[link.RackLeaf(i)] != sent.Head ||
			c.Link.Open(protocol.TopicDown(agent, link.RackLeaf(i)), sent.Body, &d) != nil {
			return nil, false
		}
		for j := range d.Servers {
			if d.Servers[j].Server == server {
				return &d.Servers[j], true
			}
		}
	}
}

func toldOf(entry *protocol.ServerIntent, known bool) plan.Told {
	switch {
	case !known:
		return plan.ToldUnknown
	case entry != nil && entry.Power == protocol.WantOn && !entry.Releasing:
		return plan.ToldOn
	}
	return plan.ToldOff
}
