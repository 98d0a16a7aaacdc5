package api

import (
	"context"
	"net/http"
	"net/url"

	"rackboot/protocol/resource"
)

// PathApprovals is the route of all approvals.
const PathApprovals = "/v1/approvals"

// pathApproval is the route of one approval; action is grant, deny, sign, or empty.
func pathApproval(id, action string) string {
	path := PathApprovals + "/" + url.PathEscape(id)
	if action != "" {
		path += "/" + action
	}
	return path
}

// GrantRequest grants an approval as it was at the version that was read.
type GrantRequest struct {
	Version int `json:"version"`
}

// DenyRequest denies an approval.
type DenyRequest struct {
	Reason string `json:"reason,omitempty"`
}

// SignRequest gives a granted approval its signature: a COSE_Sign1 over it by the
// destructive key, as wire.Seal makes it.
type SignRequest struct {
	Signed []byte `json:"signed"`
}

// Approvals are what waits for a second person, and their answers.
type Approvals struct{ hub *hub }

// List reads all approvals, the oldest first.
func (a Approvals) List(ctx context.Context) ([]resource.ApprovalRequest, error) {
	var out List[resource.ApprovalRequest]
	err := a.hub.call(ctx, http.MethodGet, PathApprovals, nil, &out)
	if err == nil {
		err = out.Incomplete.Err("list approvals")
	}
	return out.Items, err
}

// Get reads one approval.
func (a Approvals) Get(ctx context.Context, id string) (out resource.ApprovalRequest, err error) {
	err = a.hub.call(ctx, http.MethodGet, pathApproval(id, ""), nil, &out)
	return out, err
}

// Grant grants an approval. Repeating it is safe.
func (a Approvals) Grant(ctx context.Context, id string, r GrantRequest) (out resource.ApprovalRequest, err error) {
	err = a.hub.call(ctx, http.MethodPost, pathApproval(id, "grant"), r, &out)
	return out, err
}

// Deny denies an approval. Repeating it is safe.
func (a Approvals) Deny(ctx context.Context, id string, r DenyRequest) (out resource.ApprovalRequest, err error) {
	err = a.hub.call(ctx, http.MethodPost, pathApproval(id, "deny"), r, &out)
	return out, err
}

// Sign gives a granted approval its signature. Repeating it is safe.
func (a Approvals) Sign(ctx context.Context, id string, r SignRequest) (out resource.ApprovalRequest, err error) {
	err = a.hub.call(ctx, http.MethodPost, pathApproval(id, "sign"), r, &out)
	return out, err
}
