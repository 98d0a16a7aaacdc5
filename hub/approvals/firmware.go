package approvals

import (
	"context"

	"rackboot/hub/approval"
	"rackboot/hub/events"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// firmwareNeed is the approval that a maintenance needs which writes firmware settings: it names them by
// their digest, so that what was approved is what is written.
func firmwareNeed(rack *resource.Rack, m *resource.Maintenance) approval.Need {
	server := m.Spec.ServerRef.Name
	return approval.Need{
		Class: resource.ApproveFirmware, Rack: rack.Metadata.Name, Target: server, Asked: []string{m.Status.AskedBy}, Reason: m.Spec.Reason[:min(len(m.Spec.Reason), store.MaxReason)],
		Boot: &resource.ApprovedBoot{Server: server, Owner: m.Metadata.UID, Settings: resource.SettingsDigest(m.Spec.Firmware)},
	}
}

// firmwareWaits says whether a maintenance that writes settings waits for its approval before it begins.
func (c *Room) firmwareWaits(rack *resource.Rack, stance resource.ApprovalStance, m *resource.Maintenance) bool {
	return m.Status.State != resource.MaintenanceActive && len(m.Spec.Firmware) > 0 && m.Metadata.DeletedAt == nil &&
		c.cfg.Policy.Wants(resource.ApproveFirmware, len(stance.Keys) > 0) && !c.approved(firmwareNeed(rack, m))
}

// FirmwareWaitsAt is firmwareWaits at the rack of the maintenance's server.
func (c *Room) FirmwareWaitsAt(f plan.Fleet, m *resource.Maintenance) bool {
	r := f.Rack(f.RackOf(m.Spec.ServerRef.Name))
	return r != nil && c.firmwareWaits(r, c.Stance(r), m)
}

func (c *Room) firmwareWaitsThere(m *resource.Maintenance) bool {
	return len(m.Spec.Firmware) > 0 && m.Status.State == resource.MaintenanceActive && c.waitsThere(m.Spec.ServerRef.Name, m.Metadata.UID, resource.CondFirmwareNotApproved)
}

// firmwareNeeds are the servers whose firmware settings are to be written.
func (c *Room) firmwareNeeds(f plan.Fleet, rack *resource.Rack, stance resource.ApprovalStance) (needs []approval.Need) {
	for _, m := range f.MaintenancesIn(rack.Metadata.Name) {
		refused := m.Status.Approval != nil && m.Status.Approval.Denied && m.Status.Approval.Generation == m.Metadata.Generation
		if !refused && (c.firmwareWaits(rack, stance, m) || c.firmwareWaitsThere(m)) {
			needs = append(needs, firmwareNeed(rack, m))
		}
	}
	return needs
}

// refuseFirmware denies the maintenances whose settings nobody approved, as refuseWipes does.
func (c *Room) refuseFirmware(ctx context.Context, r store.StoredApproval, why string) error {
	for _, boot := range r.Boots {
		for _, m := range store.Referring[*resource.Maintenance](c.cfg.Store.Objects, resource.KindServer, boot.Server) {
			if m.Metadata.UID != boot.Owner || m.Status.State == resource.MaintenanceActive && !c.firmwareWaitsThere(m) {
				continue
			}
			by := r.DeniedBy
			if by == "" {
				by = events.HubName
			}
			own := store.Copy(c.cfg.Store.Objects, m)
			own.Status.Approval = &resource.MaintenanceApproval{By: by, Reason: "firmware: " + why, At: c.cfg.Clock().UTC(), Denied: true, Generation: m.Metadata.Generation}
			if err := c.cfg.Store.Objects.Put(ctx, own); err != nil {
				return err
			}
			c.cfg.Crash.At("hub.approval.unsettled")
		}
	}
	return nil
}
