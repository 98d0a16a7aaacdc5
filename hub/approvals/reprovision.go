package approvals

import (
	"context"

	"rackboot/hub/approval"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// InstallWaits is what the installation over a system that may be there waits for; nil
// if for nothing. Where the class reprovision needs approvals, it needs one.
func (c *Room) InstallWaits(f plan.Fleet, cl *resource.Claim) *resource.ConditionState {
	if r := f.Rack(f.RackOf(cl.Status.Server)); r != nil && c.reprovisionWaits(r, c.Stance(r), cl) {
		return &resource.ConditionState{Code: resource.CondNeedsDecision, Message: "the installation over what there is waits for an approval: rackctl approve list"}
	}
	return nil
}

// reprovisionNeed is the approval that a claim needs whose server is installed over what
// there is.
func reprovisionNeed(rack *resource.Rack, cl *resource.Claim) approval.Need {
	n := approval.Need{
		Class: resource.ApproveReprovision, Rack: rack.Metadata.Name, Target: cl.Status.Server,
		Boot: &resource.ApprovedBoot{Server: cl.Status.Server, Owner: cl.Metadata.UID},
	}
	if d := cl.Status.Decision; d != nil && d.Install != nil {
		n.Asked, n.Reason = []string{d.Install.By}, d.Install.Reason
	}
	return n
}

func (c *Room) reprovisionWaits(rack *resource.Rack, stance resource.ApprovalStance, cl *resource.Claim) bool {
	d := cl.Status.Decision
	if d == nil || d.Install == nil || !c.cfg.Policy.Wants(resource.ApproveReprovision, len(stance.Keys) > 0) {
		return false
	}
	now, n := c.cfg.Clock(), reprovisionNeed(rack, cl)
	for _, r := range c.cfg.Store.Approvals.OpenOf(rack.Metadata.Name) {
		if r.State == resource.ApprovalApproved && r.Class == resource.ApproveReprovision &&
			now.Before(r.NotAfter) && !r.CreatedAt.Before(d.Install.At) && approval.Covers(r.Approval, n) {
			return false
		}
	}
	return true
}

// reprovisionNeeds are the servers that somebody wants installed over what they have, and
// those whose agent does not install them again without an approval.
func (c *Room) reprovisionNeeds(f plan.Fleet, rack *resource.Rack, stance resource.ApprovalStance) (needs []approval.Need) {
	for _, cl := range f.ClaimsIn(rack.Metadata.Name) {
		server := cl.Status.Server
		if cl.Metadata.DeletedAt != nil {
			continue
		}
		if f.ConfigOf(cl) == nil && c.reprovisionWaits(rack, stance, cl) || c.waitsThere(server, cl.Metadata.UID, resource.CondInstallNotApproved) {
			needs = append(needs, reprovisionNeed(rack, cl))
		}
	}
	return needs
}

// withdrawInstalls takes back the word to install where its approval was denied or
// expired.
func (c *Room) withdrawInstalls(ctx context.Context, servers []string) error {
	for _, name := range servers {
		shared := c.cfg.Store.Claims.Of(name)
		if shared == nil || shared.Status.Decision == nil || shared.Status.Decision.Install == nil {
			continue
		}
		cl := store.Copy(c.cfg.Store.Objects, shared)
		cl.Status.Decision.Install = nil
		if err := c.cfg.Store.Objects.Put(ctx, cl); err != nil {
			return err
		}
		c.cfg.Crash.At("hub.approval.uninstalled")
	}
	return nil
}
