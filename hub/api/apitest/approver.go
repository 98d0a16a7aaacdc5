package apitest

import (
	"context"
	"slices"
	"sync"

	"rackboot/hub/api"
	"rackboot/hub/approval"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

var _ api.Approver = (*CannedApprover)(nil)

// CannedApprover is a hub/api.Approver of approvals that the test told it. It is safe
// for concurrent use.
type CannedApprover struct {
	mu  sync.Mutex
	key *approval.Key
	all []resource.ApprovalRequest
}

// Set says what approvals there are, and which key signs them.
func (a *CannedApprover) Set(key *approval.Key, all []resource.ApprovalRequest) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.key, a.all = key, all
}

// List returns those of Set, as they are now.
func (a *CannedApprover) List() []resource.ApprovalRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.all)
}

// Get is one of them.
func (a *CannedApprover) Get(id string) (resource.ApprovalRequest, error) {
	return a.change(id, func(*resource.ApprovalRequest) error { return nil })
}

func (a *CannedApprover) change(id string, do func(*resource.ApprovalRequest) error) (resource.ApprovalRequest, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.all, func(r resource.ApprovalRequest) bool { return r.ID == id })
	if i < 0 {
		return resource.ApprovalRequest{}, protocol.Errorf(protocol.CodeNotFound, "get approval", "approval %q does not exist", id).WithHint("rackctl approve list")
	}
	err := do(&a.all[i])
	return a.all[i], err
}

// Grant judges as a hub does.
func (a *CannedApprover) Grant(_ context.Context, id string, version int, by string, right bool) (resource.ApprovalRequest, error) {
	return a.change(id, func(r *resource.ApprovalRequest) error {
		switch verdict := approval.MayGrant(*r, version, by, right); verdict {
		case approval.GrantMore, approval.GrantDone:
			r.By = append(r.By, by)
			if verdict == approval.GrantDone {
				r.State, r.NotBefore, r.NotAfter = resource.ApprovalGranted, Now(), Now().Add(resource.MaxApprovalLife)
			}
			return nil
		case approval.GrantAgain:
			return nil
		case approval.GrantStale, approval.GrantOver:
			return protocol.Errorf(protocol.CodeConflict, "grant", "%s", verdict).WithHint("rackctl approve show %s", id)
		default:
			return protocol.Errorf(protocol.CodeDenied, "grant", "%s", verdict).WithHint("rackctl approve show %s", id)
		}
	})
}

// Deny denies for whoever may approve, or asked.
func (a *CannedApprover) Deny(_ context.Context, id, by, reason string, right bool) (resource.ApprovalRequest, error) {
	return a.change(id, func(r *resource.ApprovalRequest) error {
		if !right && !slices.Contains(r.Asked, by) {
			return protocol.Errorf(protocol.CodeDenied, "deny", "%q may not", by).WithHint("ask somebody who may")
		}
		r.State, r.DeniedBy, r.Message = resource.ApprovalDenied, by, reason
		return nil
	})
}

// Sign checks the signature.
func (a *CannedApprover) Sign(_ context.Context, id string, signed []byte, _ string) (resource.ApprovalRequest, error) {
	return a.change(id, func(r *resource.ApprovalRequest) error {
		if err := a.key.Check(signed, r.Approval); err != nil {
			return err
		}
		r.State, r.Signed = resource.ApprovalApproved, signed
		return nil
	})
}
