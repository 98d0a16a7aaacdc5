package approvals

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"

	"rackboot/hub/approval"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// approveTries bounds how often an approval is written again after somebody else wrote
// it.
const approveTries = 8

// List are all wishes for approvals, the oldest first.
func (c *Room) List() (out []resource.ApprovalRequest) {
	for _, r := range c.cfg.Store.Approvals.List() {
		out = append(out, r.ApprovalRequest)
	}
	return out
}

// Get is one wish; not_found if there is none.
func (c *Room) Get(id string) (resource.ApprovalRequest, error) {
	r, err := c.cfg.Store.Approvals.Get(id)
	return r.ApprovalRequest, err
}

// Grant grants a wish as it was at the version read, in the name of by; right
// says whether by may approve at all. With the last grant it is signed, where the hub
// can have that done; a signature that could not be had is in its message, and granting
// again asks for it again. The codes are not_found, denied, conflict, unavailable and
// timeout.
func (c *Room) Grant(ctx context.Context, id string, version int, by string, right bool) (resource.ApprovalRequest, error) {
	const op = "grant"
	for try := 1; ; try++ {
		r, err := c.cfg.Store.Approvals.Get(id)
		if err != nil {
			return r.ApprovalRequest, err
		}
		switch verdict := approval.MayGrant(r.ApprovalRequest, version, by, right); verdict {
		case approval.GrantRight:
			return r.ApprovalRequest, protocol.Errorf(protocol.CodeDenied, op, "%q may not approve", by).
				WithHint("ask somebody with the role admin")
		case approval.GrantOver:
			return r.ApprovalRequest, protocol.Errorf(protocol.CodeConflict, op, "approval %s is over: %s", id, r.State).
				WithHint("ask for the action again")
		case approval.GrantStale:
			return r.ApprovalRequest, protocol.Errorf(protocol.CodeConflict, op, "approval %s has version %d, and %d was read", id, r.Version, version).
				WithHint("its targets have changed; read them again: rackctl approve show %s", id)
		case approval.GrantItself:
			return r.ApprovalRequest, protocol.Errorf(protocol.CodeDenied, op, "%q asked for it, and the second who grants it must be somebody else", by).
				WithHint("ask a colleague who may approve")
		case approval.GrantAgain:
			return c.signGranted(ctx, r)
		case approval.GrantMore, approval.GrantDone:
			now := c.cfg.Clock().UTC()
			r.By = append(slices.Clone(r.By), by)
			if verdict == approval.GrantDone {
				r.State, r.NotBefore, r.NotAfter = resource.ApprovalGranted, now.Add(-approvalSkew), now.Add(approvalLife)
				if !r.NeedsKey {
					r.State, r.SignedAt = resource.ApprovalApproved, &now
				}
			}
			err := c.cfg.Store.Approvals.Put(ctx, &r)
			if protocol.CodeOf(err) == protocol.CodeConflict && try < approveTries {
				continue
			}
			if err != nil {
				return r.ApprovalRequest, err
			}
			c.cfg.Crash.At("hub.approval.granted")
			c.tellApproval(ctx, r, string(verdict)+" by "+by)
			c.cfg.Wake.Rack(r.Rack)
			return c.signGranted(ctx, r)
		}
	}
}

// signGranted has a granted approval signed, where the hub can.
func (c *Room) signGranted(ctx context.Context, r store.StoredApproval) (resource.ApprovalRequest, error) {
	key := c.approvalKey(r)
	if r.State != resource.ApprovalGranted || key == nil || !key.Signs() {
		return r.ApprovalRequest, nil
	}
	signed, err := key.Seal(ctx, r.Approval)
	if err != nil {
		c.cfg.Logger.Error("approval not signed", "approval", r.ID, "err", err)
		r.Message = "not signed: " + err.Error()
		if put := c.cfg.Store.Approvals.Put(ctx, &r); put != nil {
			return r.ApprovalRequest, put
		}
		return r.ApprovalRequest, nil
	}
	return c.takeSigned(ctx, r, signed, "the hub's key")
}

// approvalKey is the destructive key that the rack's agent wants: the hub's own, or one
// that a person has.
func (c *Room) approvalKey(r store.StoredApproval) *approval.Key {
	rack, err := store.Peek[*resource.Rack](c.cfg.Store.Objects, r.Rack)
	if err != nil {
		return nil
	}
	keys := c.Stance(rack).Keys
	own := c.cfg.Destructive
	if own != nil && slices.ContainsFunc(keys, func(k []byte) bool { return own.Public().Equal(ed25519.PublicKey(k)) }) {
		return own
	}
	if len(keys) == 0 || len(keys[0]) != ed25519.PublicKeySize {
		return nil
	}
	return approval.KeyOf(keys[0])
}

// Sign takes the signature of a granted approval from a person. The codes are
// not_found, denied (another key, or something else was signed), conflict, unavailable
// and timeout.
func (c *Room) Sign(ctx context.Context, id string, signed []byte, by string) (resource.ApprovalRequest, error) {
	const op = "sign"
	r, err := c.cfg.Store.Approvals.Get(id)
	if err != nil {
		return r.ApprovalRequest, err
	}
	switch {
	case r.State == resource.ApprovalApproved:
		return r.ApprovalRequest, nil
	case r.State != resource.ApprovalGranted:
		return r.ApprovalRequest, protocol.Errorf(protocol.CodeConflict, op, "approval %s is %s", id, r.State).
			WithHint("it is signed after it was granted: rackctl approve grant %s", id)
	}
	key := c.approvalKey(r)
	if key == nil {
		return r.ApprovalRequest, protocol.Errorf(protocol.CodeConflict, op, "the agent of rack %s wants no destructive key any more", r.Rack)
	}
	if err := key.Check(signed, r.Approval); err != nil {
		return r.ApprovalRequest, err
	}
	return c.takeSigned(ctx, r, signed, by)
}

func (c *Room) takeSigned(ctx context.Context, r store.StoredApproval, signed []byte, by string) (resource.ApprovalRequest, error) {
	size := len(signed)
	for _, o := range c.cfg.Store.Approvals.OpenOf(r.Rack) {
		if o.State == resource.ApprovalApproved && o.ID != r.ID {
			size += len(o.Signed)
		}
	}
	if size > maxApprovalBytes {
		return r.ApprovalRequest, protocol.Errorf(protocol.CodeConflict, "sign", "the approvals of rack %s take %d bytes, and %d is the most that its agent can be sent", r.Rack, size, maxApprovalBytes).
			WithHint("wait until one has ended (rackctl approve list), then sign again")
	}
	now := c.cfg.Clock().UTC()
	r.State, r.Signed, r.SignedAt, r.Message = resource.ApprovalApproved, signed, &now, ""
	if err := c.cfg.Store.Approvals.Put(ctx, &r); err != nil {
		return r.ApprovalRequest, err
	}
	c.cfg.Crash.At("hub.approval.signed")
	c.tellApproval(ctx, r, "signed by "+by)
	c.cfg.Wake.Rack(r.Rack)
	return r.ApprovalRequest, nil
}

// Deny ends a wish; right is as with GrantApproval, and who asked may do so too. The codes are not_found,
// denied, invalid, conflict, unavailable and timeout.
func (c *Room) Deny(ctx context.Context, id, by, reason string, right bool) (resource.ApprovalRequest, error) {
	const op = "deny"
	if len(reason) > store.MaxReason {
		return resource.ApprovalRequest{}, protocol.Errorf(protocol.CodeInvalid, op, "the reason is longer than %d bytes", store.MaxReason)
	}
	r, err := c.cfg.Store.Approvals.Get(id)
	if err != nil {
		return r.ApprovalRequest, err
	}
	switch {
	case !right && !slices.Contains(r.Asked, by):
		return r.ApprovalRequest, protocol.Errorf(protocol.CodeDenied, op, "%q may not approve, and did not ask for it", by)
	case r.State == resource.ApprovalDenied:
		return r.ApprovalRequest, nil
	case r.State == resource.ApprovalApproved || r.State.Over():
		return r.ApprovalRequest, protocol.Errorf(protocol.CodeConflict, op, "approval %s is %s", id, r.State).
			WithHint("what was approved is not taken back; release the holds, or hold the servers again")
	}
	r.DeniedBy = by
	if err := c.endApproval(ctx, r, resource.ApprovalDenied, strings.TrimSpace(fmt.Sprintf("by %s %s", by, reason))); err != nil {
		return r.ApprovalRequest, err
	}
	c.cfg.Wake.Rack(r.Rack)
	return c.Get(id)
}
