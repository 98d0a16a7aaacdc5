package status

import (
	"time"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// decorateSafety fills what is known of a server that somebody else powers on: of the
// agent's last reading of the inventory, or else of the hub's.
func (c *Room) decorateSafety(f plan.Fleet, s *resource.Server) {
	is := c.safety(s, f.BMC(s.Spec.BMCRef.Name), s.Status.Report)
	if is == nil {
		return
	}
	poll := time.Duration(0)
	if r := f.Rack(f.RackOf(s.Metadata.Name)); r != nil {
		poll = r.Spec.PollInterval.D()
	}
	st := &s.Status
	st.SafeStop, st.SafeStopReason = is.SafeStop.Class, is.SafeStop.Reason
	st.Detection, st.Detects, st.Restore = is.Detection.Class, is.Detection.Says(poll), is.Restore.Policy
}

// safety is what is known of a server's BMC and firmware; nil is nothing. b is its BMC and r its report,
// where there are any.
func (c *Room) safety(s *resource.Server, b *resource.BMC, r *resource.ServerReport) *protocol.Safety {
	if r != nil && r.Safety != nil {
		return r.Safety
	}
	if b == nil {
		return nil
	}
	return c.cfg.Inventories.Safety(b.Metadata.Name, b.Metadata.UID, s.Spec.SystemURI)
}

// limit is what limits a hold on a server, as far as it is known.
func (c *Room) limit(server string) resource.HoldLimit {
	s, err := store.Peek[*resource.Server](c.cfg.Objects, server)
	if err != nil {
		return ""
	}
	return resource.LimitOf(c.offers(s), s.Spec.KeepPowerRestorePolicy)
}

// offers is what a server's BMC offers, as far as it is known.
func (c *Room) offers(s *resource.Server) protocol.Offers {
	b, err := store.Peek[*resource.BMC](c.cfg.Objects, s.Spec.BMCRef.Name)
	if err != nil {
		b = nil
	}
	r, _ := c.cfg.Reports.Server(s.Metadata.Name)
	if is := c.safety(s, b, r); is != nil {
		return is.Offers
	}
	return protocol.Offers{}
}
