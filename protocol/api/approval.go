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

// Approvals reads all approvals, the oldest first.
func (c *Client) Approvals(ctx context.Context) ([]resource.ApprovalRequest, error) {
	var out List[resource.ApprovalRequest]
	err := c.call(ctx, http.MethodGet, PathApprovals, nil, &out)
	return out.Items, err
}

// Approval reads one approval.
func (c *Client) Approval(ctx context.Context, id string) (out resource.ApprovalRequest, err error) {
	err = c.call(ctx, http.MethodGet, pathApproval(id, ""), nil, &out)
	return out, err
}

// GrantApproval grants an approval. Repeating it is safe.
func (c *Client) GrantApproval(ctx context.Context, id string, r GrantRequest) (out resource.ApprovalRequest, err error) {
	err = c.call(ctx, http.MethodPost, pathApproval(id, "grant"), r, &out)
	return out, err
}

// DenyApproval denies an approval. Repeating it is safe.
func (c *Client) DenyApproval(ctx context.Context, id string, r DenyRequest) (out resource.ApprovalRequest, err error) {
	err = c.call(ctx, http.MethodPost, pathApproval(id, "deny"), r, &out)
	return out, err
}

// SignApproval gives a granted approval its signature. Repeating it is safe.
func (c *Client) SignApproval(ctx context.Context, id string, r SignRequest) (out resource.ApprovalRequest, err error) {
	err = c.call(ctx, http.MethodPost, pathApproval(id, "sign"), r, &out)
	return out, err
}
