package approvals

import (
	"context"
	"slices"

	"rackboot/hub/approval"
	"rackboot/hub/events"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// wipes says whether a maintenance discards what is on its server's disks.
func wipes(f plan.Fleet, m *resource.Maintenance) bool {
	b := m.Spec.Boot.BootEnv
	if b == nil || m.Spec.ServerPower == resource.WantOff || m.Metadata.DeletedAt != nil {
		return false
	}
	env := f.Env.BootEnv(b.Name)
	return env != nil && env.Spec.Destructive
}

// wipeNeed is the approval that a maintenance needs which wipes.
func wipeNeed(rack *resource.Rack, m *resource.Maintenance) approval.Need {
	server, env := m.Spec.ServerRef.Name, m.Spec.Boot.BootEnv.Name
	reason := env + ": " + m.Spec.Reason
	return approval.Need{
		Class: resource.ApproveWipe, Rack: rack.Metadata.Name, Target: server, Asked: []string{m.Status.AskedBy}, Reason: reason[:min(len(reason), store.MaxReason)],
		Boot: &resource.ApprovedBoot{Server: server, Owner: m.Metadata.UID, BootEnv: env},
	}
}

// wipeWaits says whether a maintenance that wipes waits for its approval before it begins.
func (c *Room) wipeWaits(f plan.Fleet, rack *resource.Rack, stance resource.ApprovalStance, m *resource.Maintenance) bool {
	return m.Status.State != resource.MaintenanceActive && wipes(f, m) && c.cfg.Policy.Wants(resource.ApproveWipe, len(stance.Keys) > 0) &&
		!c.approved(wipeNeed(rack, m))
}

// approved says whether an approval that counts covers a need.
func (c *Room) approved(n approval.Need) bool {
	now := c.cfg.Clock()
	for _, r := range c.cfg.Store.Approvals.OpenOf(n.Rack) {
		if r.State == resource.ApprovalApproved && r.Class == n.Class && now.Before(r.NotAfter) && approval.Covers(r.Approval, n) {
			return true
		}
	}
	return false
}

// waitsThere says whether the agent of a server reports that the boot for an owner waits
// for an approval: what was approved ended before it came, or was used.
func (c *Room) waitsThere(server, owner string, code resource.ConditionCode) bool {
	r, _ := c.cfg.Reports.Server(server)
	return r != nil && r.OwnerUID == owner && slices.ContainsFunc(r.Conditions, func(s resource.ConditionState) bool { return s.Code == code })
}

// WipeWaitsAt is wipeWaits at the rack of the maintenance's server.
func (c *Room) WipeWaitsAt(f plan.Fleet, m *resource.Maintenance) bool {
	r := f.Rack(f.RackOf(m.Spec.ServerRef.Name))
	return r != nil && c.wipeWaits(f, r, c.Stance(r), m)
}

// wipeNeeds are the servers whose disks a maintenance is to discard.
func (c *Room) wipeNeeds(f plan.Fleet, rack *resource.Rack, stance resource.ApprovalStance) (needs []approval.Need) {
	for _, m := range f.MaintenancesIn(rack.Metadata.Name) {
		refused := m.Status.Approval != nil && m.Status.Approval.Denied && m.Status.Approval.Generation == m.Metadata.Generation
		if refused || !wipes(f, m) {
			continue
		}
		if c.wipeWaits(f, rack, stance, m) || c.wipeWaitsThere(m) {
			needs = append(needs, wipeNeed(rack, m))
		}
	}
	return needs
}

func (c *Room) wipeWaitsThere(m *resource.Maintenance) bool {
	return m.Status.State == resource.MaintenanceActive && c.waitsThere(m.Spec.ServerRef.Name, m.Metadata.UID, resource.CondWipeNotApproved)
}

// refuseWipes denies the maintenances whose wipe nobody approved. A change of the spec
// asks anew. One that has begun stays, and its server off: it is not asked for again.
func (c *Room) refuseWipes(ctx context.Context, r store.StoredApproval, why string) error {
	var asked []*resource.Maintenance
	for _, server := range r.Targets {
		asked = append(asked, store.Referring[*resource.Maintenance](c.cfg.Store.Objects, resource.KindServer, server)...)
	}
	for _, m := range asked {
		b := m.Spec.Boot.BootEnv
		if b == nil || m.Status.State == resource.MaintenanceActive && !c.wipeWaitsThere(m) {
			continue
		}
		if !slices.ContainsFunc(r.Boots, func(t resource.ApprovedBoot) bool { return t.Owner == m.Metadata.UID }) {
			continue // of another maintenance of the server
		}
		if env, err := store.Peek[*resource.BootEnv](c.cfg.Store.Objects, b.Name); err != nil || !env.Spec.Destructive {
			continue
		}
		by := r.DeniedBy
		if by == "" {
			by = events.HubName
		}
		own := store.Copy(c.cfg.Store.Objects, m)
		own.Status.Approval = &resource.MaintenanceApproval{By: by, Reason: "wipe: " + why, At: c.cfg.Clock().UTC(), Denied: true, Generation: m.Metadata.Generation}
		if err := c.cfg.Store.Objects.Put(ctx, own); err != nil {
			return err
		}
		c.cfg.Crash.At("hub.approval.unwiped")
	}
	return nil
}
