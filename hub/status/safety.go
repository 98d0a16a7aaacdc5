package status

import (
	"time"

	"rackboot/hub/plan"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// decorateSafety fills what is known of a server that somebody else powers on: of the
// agent's last reading of the inventory, or else of the hub's.
func (c *Room) decorateSafety(f plan.Fleet, s *resource.Server) {
	var is *protocol.Safety
	if r := s.Status.Report; r != nil && r.Safety != nil {
		is = r.Safety
	} else if len(f.BMCs) == 1 {
		b := f.BMCs[0]
		if inv := c.cfg.Inventories.Peek(b.Metadata.Name, b.Metadata.UID); inv != nil {
			if sys := inv.System(s.Spec.SystemURI); sys != nil {
				safety := protocol.SafetyOf(*sys)
				is = &safety
			}
		}
	}
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
