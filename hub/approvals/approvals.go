package approvals

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rackboot/hub/approval"
	"rackboot/hub/events"
	"rackboot/hub/plan"
	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const (
	// approvalLife is how long a wish for an approval waits for people, and how long the
	// approval counts once it is granted.
	approvalLife = time.Hour
	// approvalSkew is how far an agent's clock may be behind the hub's.
	approvalSkew = 5 * time.Minute
	// approvalKept is how long it can be read how a wish ended.
	approvalKept = 24 * time.Hour
	// approvalTravels is how long an approval may be on its way before a server that
	// still waits needs another one.
	approvalTravels = 30 * time.Second
	// maxApprovals bounds the wishes that are not over, of all racks.
	maxApprovals = 64
	// maxApprovalBytes bounds the signed approvals in one hold document.
	maxApprovalBytes = 12 << 10
)

// Turn makes the wishes that are needed.
func (c *Room) Turn(ctx context.Context, f plan.Fleet) error {
	var errs []error
	for _, r := range f.Racks {
		if r.Status.Agent != "" {
			errs = append(errs, c.needApprovals(ctx, f, r))
		}
	}
	return errors.Join(errs...)
}

// Sweep ends and forgets, and plans the turn that ends the next one.
func (c *Room) Sweep(ctx context.Context) error {
	now, next := c.cfg.Clock(), time.Time{}
	var errs []error
	for _, r := range c.cfg.Store.Approvals.List() {
		at := r.CreatedAt.Add(approvalLife)
		switch r.State {
		case resource.ApprovalPending:
		case resource.ApprovalGranted, resource.ApprovalApproved:
			at = r.NotAfter
		case resource.ApprovalDenied, resource.ApprovalExpired, resource.ApprovalEnded:
			at = r.CreatedAt.Add(approvalLife + approvalKept)
		}
		done := r.State == resource.ApprovalApproved && r.Class == resource.ApproveHoldOverride && c.holdsGone(r.Targets)
		switch {
		case r.State.Over() && !now.Before(at):
			errs = append(errs, c.cfg.Store.Approvals.Remove(ctx, r.ID))
		case done:
			errs = append(errs, c.endApproval(ctx, r, resource.ApprovalEnded, "done"))
		case now.Before(at):
			if next.IsZero() || at.Before(next) {
				next = at
			}
		case r.State == resource.ApprovalApproved:
			errs = append(errs, c.endApproval(ctx, r, resource.ApprovalEnded, "its time is over"))
		default:
			errs = append(errs, c.endApproval(ctx, r, resource.ApprovalExpired, "nobody approved it in time"))
		}
	}
	at := int64(0)
	if !next.IsZero() {
		at = next.UnixNano()
	}
	c.ends.Store(at)
	return errors.Join(errs...)
}

// Due takes a turn when a wish is over.
func (c *Room) Due(now time.Time) {
	if at := c.ends.Load(); at != 0 && now.UnixNano() >= at {
		c.cfg.Wake.Site()
	}
}

// endApproval writes how a wish ended. A release that nobody approved is taken back
// first: the agent was not sent it, and the hold stays.
func (c *Room) endApproval(ctx context.Context, r store.StoredApproval, state resource.ApprovalState, why string) error {
	if r.Class == resource.ApproveReprovision && state != resource.ApprovalEnded {
		if err := c.withdrawInstalls(ctx, r.Targets); err != nil {
			return err
		}
		if err := c.cfg.Rollouts.Pause(ctx, r, why); err != nil {
			return err
		}
	}
	if r.Class == resource.ApproveWipe && state != resource.ApprovalEnded {
		if err := c.refuseWipes(ctx, r, why); err != nil {
			return err
		}
	}
	if r.Class == resource.ApproveFirmware && state != resource.ApprovalEnded {
		if err := c.refuseFirmware(ctx, r, why); err != nil {
			return err
		}
	}
	if r.Class == resource.ApproveHoldOverride && state != resource.ApprovalEnded {
		for _, id := range r.Targets {
			if err := c.cfg.Store.Holds.Unrelease(ctx, id); err != nil && protocol.CodeOf(err) != protocol.CodeNotFound {
				return err
			}
			c.cfg.Crash.At("hub.approval.unreleased")
		}
	}
	r.State, r.Message = state, why
	if err := c.cfg.Store.Approvals.Put(ctx, &r); err != nil {
		return err
	}
	c.tellApproval(ctx, r, strings.ToLower(string(state))+": "+why)
	return nil
}

// tellApproval files what became of a wish.
func (c *Room) tellApproval(ctx context.Context, r store.StoredApproval, what string) {
	c.cfg.Logger.Info("approval", "approval", r.ID, "class", r.Class, "rack", r.Rack, "state", r.State, "targets", len(r.Targets), "detail", what)
	c.cfg.Events.Own(ctx, "", resource.EventApproval, fmt.Sprintf("%s of rack %s, %s with %d targets: %s", r.ID, r.Rack, r.Class, len(r.Targets), what))
}

func (c *Room) holdsGone(ids []string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool {
		_, err := store.Peek[*resource.Hold](c.cfg.Store.Objects, id)
		return err == nil
	})
}

// needApprovals makes the wishes of one rack. All racks have one bound, which they may pass by as many
// as have their turns at once.
func (c *Room) needApprovals(ctx context.Context, f plan.Fleet, rack *resource.Rack) error {
	stance := c.Stance(rack)
	var errs []error
	for _, needs := range [][]approval.Need{c.bulkNeeds(f, rack, stance), c.overrideNeeds(f, rack, stance), append(c.reprovisionNeeds(f, rack, stance), c.cfg.Rollouts.Needs(f, rack)...), c.wipeNeeds(f, rack, stance), c.firmwareNeeds(f, rack, stance)} {
		if len(needs) == 0 {
			continue
		}
		class := needs[0].Class
		stored := map[string]store.StoredApproval{}
		var have []resource.ApprovalRequest
		open, ofRack := 0, 0
		for _, r := range c.cfg.Store.Approvals.Open() {
			open++
			if r.Rack == rack.Metadata.Name {
				ofRack++
			}
			if r.Class == class && r.Rack == rack.Metadata.Name && (r.State != resource.ApprovalApproved || c.cfg.Clock().Sub(*r.SignedAt) < approvalTravels) {
				stored[r.ID], have = r, append(have, r.ApprovalRequest)
			}
		}
		fresh := func(n approval.Need) (r resource.ApprovalRequest, ok bool) {
			if open >= maxApprovals || ofRack >= resource.MaxApprovals {
				c.cfg.Logger.Warn("no room for another approval", "rack", n.Rack, "class", n.Class, "open", open)
				return r, false
			}
			open, ofRack = open+1, ofRack+1
			return c.freshApproval(n, rack, stance)
		}
		for _, r := range approval.Open(have, needs, fresh) {
			was := stored[r.ID]
			was.ApprovalRequest = r
			if err := c.cfg.Store.Approvals.Put(ctx, &was); err != nil {
				errs = append(errs, err)
				continue
			}
			c.cfg.Crash.At("hub.approval.asked")
			c.tellApproval(ctx, was, fmt.Sprintf("asked, version %d, by %s", r.Version, strings.Join(r.Asked, ", ")))
			c.cfg.Wake.Site() // which plans its end
		}
	}
	return errors.Join(errs...)
}

func (c *Room) freshApproval(n approval.Need, rack *resource.Rack, stance resource.ApprovalStance) (r resource.ApprovalRequest, ok bool) {
	a, err := store.Peek[*resource.Agent](c.cfg.Store.Objects, rack.Status.Agent)
	if err != nil {
		return r, false
	}
	now := c.cfg.Clock().UTC()
	return resource.ApprovalRequest{
		Approval: resource.Approval{ID: strings.ToLower(c.cfg.NewID()), Class: n.Class, Rack: n.Rack, AgentKey: a.Spec.Key, Reason: n.Reason},
		State:    resource.ApprovalPending, Subject: n.Subject, Approvers: c.cfg.Policy.Approvers(n.Class), NeedsKey: len(stance.Keys) > 0, CreatedAt: now,
	}, true
}

// Stance is what the rack's agent wants approvals for.
func (c *Room) Stance(rack *resource.Rack) resource.ApprovalStance {
	l, err := c.cfg.Store.Ledgers.Peek(rack.Status.Agent)
	if err != nil || l.Peer.Approvals == nil || rack.Status.Agent == "" {
		return resource.ApprovalStance{}
	}
	return *l.Peer.Approvals
}

// bulkNeeds are the servers whose stop waits at the agent.
func (c *Room) bulkNeeds(f plan.Fleet, rack *resource.Rack, stance resource.ApprovalStance) (needs []approval.Need) {
	if len(stance.Keys) == 0 {
		return nil
	}
	for _, s := range f.ServersIn(rack.Metadata.Name) {
		name := s.Metadata.Name
		r, _ := c.cfg.Reports.Server(name)
		if r == nil ||
			!slices.ContainsFunc(r.Conditions, func(s resource.ConditionState) bool { return s.Code == resource.CondApprovalNeeded }) {
			continue
		}
		n := approval.Need{Class: resource.ApproveBulkStop, Rack: rack.Metadata.Name, Target: name}
		for _, h := range f.HoldsOn(name) {
			n.Asked = append(n.Asked, h.Spec.Owner)
		}
		for _, q := range f.RequestsIn(rack.Metadata.Name) {
			if q.Server == name {
				n.Asked = append(n.Asked, q.By)
			}
		}
		needs = append(needs, n)
	}
	return needs
}

// overrideNeeds are the holds that somebody else released than their owners.
func (c *Room) overrideNeeds(f plan.Fleet, rack *resource.Rack, stance resource.ApprovalStance) (needs []approval.Need) {
	for _, h := range f.HoldsIn(rack.Metadata.Name) {
		if !c.OverrideWaits(h, rack, stance) {
			continue
		}
		reason := h.Status.ReleaseReason
		if with := h.Metadata.Annotations[store.AnnotationReleasedWith]; with != "" {
			reason = with + ": " + reason
		}
		needs = append(needs, approval.Need{
			Class: resource.ApproveHoldOverride, Rack: rack.Metadata.Name, Target: h.Metadata.Name,
			Asked: []string{h.Status.ReleasedBy}, Reason: reason[:min(len(reason), store.MaxReason)],
		})
	}
	return needs
}

// OverrideWaits says whether the release of a hold waits for an approval. One that was
// sent is taken back only where the agent says that it did not follow it.
func (c *Room) OverrideWaits(h *resource.Hold, rack *resource.Rack, stance resource.ApprovalStance) bool {
	by := h.Status.ReleasedBy
	if h.Status.ReleasedAt == nil || by == h.Spec.Owner ||
		!c.cfg.Policy.Wants(resource.ApproveHoldOverride, len(stance.Keys) > 0) {
		return false
	}
	now := c.cfg.Clock()
	for _, r := range c.cfg.Store.Approvals.OpenFor(h.Metadata.Name) {
		if r.State == resource.ApprovalApproved && r.Class == resource.ApproveHoldOverride && now.Before(r.NotAfter) {
			return false
		}
	}
	// What ended at the agent is off its disk, unless that was rolled back since.
	ended := by == events.ByExpiry || strings.HasPrefix(by, events.LocalOwner)
	_, sent := c.cfg.Link.Ledgers.SentTo(rack.Status.Agent).Of(h.Metadata.Name)
	return !ended && !sent || c.withheld(h)
}

// OverrideOf is the approval that the release of a hold waits for; empty if none.
func (c *Room) OverrideOf(h *resource.Hold) string {
	for _, r := range c.cfg.Store.Approvals.OpenFor(h.Metadata.Name) {
		if r.State != resource.ApprovalApproved && r.Class == resource.ApproveHoldOverride {
			return r.ID
		}
	}
	return ""
}

// withheld says whether the agent reports that it did not follow the release of a hold.
func (c *Room) withheld(h *resource.Hold) bool {
	r, _ := c.cfg.Reports.Server(h.Spec.Server)
	return r != nil && slices.ContainsFunc(r.Holds, func(hr resource.HoldReport) bool { return hr.ID == h.Metadata.Name && hr.Withheld })
}

// MayLie says whether the agent may still enforce a hold whose release is in its
// document: where it knows a destructive key, it may not have followed it.
func (c *Room) MayLie(h *resource.Hold, rack *resource.Rack) bool {
	if h.Status.ReleasedBy == h.Spec.Owner || len(c.Stance(rack).Keys) == 0 {
		return false
	}
	r, _ := c.cfg.Reports.Server(h.Spec.Server)
	if r == nil {
		return c.cfg.Clock().Sub(c.cfg.Began) < 2*reports.DarkAfter
	}
	return slices.ContainsFunc(r.Holds, func(hr resource.HoldReport) bool { return hr.ID == h.Metadata.Name && hr.Released == nil })
}

// Signed are those that travel, by rack.
func (c *Room) Signed() map[string][][]byte {
	var out map[string][][]byte
	now := c.cfg.Clock()
	for _, r := range c.cfg.Store.Approvals.Open() {
		if r.State != resource.ApprovalApproved || len(r.Signed) == 0 || !now.Before(r.NotAfter) {
			continue
		}
		rack, err := store.Peek[*resource.Rack](c.cfg.Store.Objects, r.Rack)
		if err != nil {
			continue
		}
		a, err := store.Peek[*resource.Agent](c.cfg.Store.Objects, rack.Status.Agent)
		if err != nil || !bytes.Equal(a.Spec.Key, r.AgentKey) {
			continue
		}
		if out == nil {
			out = map[string][][]byte{}
		}
		out[r.Rack] = append(out[r.Rack], r.Signed)
	}
	return out
}
