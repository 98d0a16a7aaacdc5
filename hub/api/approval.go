package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"rackboot/hub/access"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Approver is what the API asks of the hub's control about approvals of destructive
// actions. by is the caller, and right says whether it may approve.
type Approver interface {
	List() []resource.ApprovalRequest
	Get(id string) (resource.ApprovalRequest, error)
	Grant(ctx context.Context, id string, version int, by string, right bool) (resource.ApprovalRequest, error)
	Deny(ctx context.Context, id, by, reason string, right bool) (resource.ApprovalRequest, error)
	Sign(ctx context.Context, id string, signed []byte, by string) (resource.ApprovalRequest, error)
}

type approvalID struct {
	ID string `path:"id" doc:"of the approval"`
}

type approvalBody struct {
	ID      string `path:"id" doc:"of the approval"`
	RawBody []byte `contentType:"application/json"`
}

type approvalAnswer = answer[resource.ApprovalRequest]

// mayApprove says whether a caller may approve destructive actions at all.
func mayApprove(who access.Caller) bool {
	return access.May(who, access.Approve, access.Target{}) == access.Allowed
}

// registerApprovals: an API without an Approver has no such routes.
func (a *API) registerApprovals() {
	if a.approver == nil {
		return
	}
	huma.Register(a.huma, a.operation(http.MethodGet, protoapi.PathApprovals, "listApprovals", "List approvals of destructive actions", nil),
		func(context.Context, *struct{}) (*answer[protoapi.List[resource.ApprovalRequest]], error) {
			list := a.approver.List()
			if list == nil {
				list = []resource.ApprovalRequest{}
			}
			return &answer[protoapi.List[resource.ApprovalRequest]]{protoapi.List[resource.ApprovalRequest]{APIVersion: resource.APIVersion, Kind: "ApprovalList", Items: list}}, nil
		})
	huma.Register(a.huma, a.operation(http.MethodGet, protoapi.PathApprovals+"/{id}", "getApproval", "Read one approval", nil),
		func(_ context.Context, in *approvalID) (*approvalAnswer, error) {
			return approved(a.approver.Get(in.ID))
		})
	register(a, a.operation(http.MethodPost, protoapi.PathApprovals+"/{id}/grant", "grantApproval",
		"Grant an approval as it was read; idempotent", reflect.TypeFor[protoapi.GrantRequest]()),
		func(ctx context.Context, in *approvalBody) (*approvalAnswer, error) {
			var req protoapi.GrantRequest
			if err := body("grant", in.RawBody, &req); err != nil {
				return nil, err
			}
			who := caller(ctx)
			return approved(a.approver.Grant(ctx, in.ID, req.Version, who.Name, mayApprove(who)))
		})
	register(a, a.operation(http.MethodPost, protoapi.PathApprovals+"/{id}/deny", "denyApproval",
		"Deny an approval; idempotent", reflect.TypeFor[protoapi.DenyRequest]()),
		func(ctx context.Context, in *approvalBody) (*approvalAnswer, error) {
			var req protoapi.DenyRequest
			if err := body("deny", in.RawBody, &req); err != nil {
				return nil, err
			}
			who := caller(ctx)
			return approved(a.approver.Deny(ctx, in.ID, who.Name, req.Reason, mayApprove(who)))
		})
	register(a, a.operation(http.MethodPost, protoapi.PathApprovals+"/{id}/sign", "signApproval",
		"Give a granted approval the signature of the destructive key; idempotent", reflect.TypeFor[protoapi.SignRequest]()),
		func(ctx context.Context, in *approvalBody) (*approvalAnswer, error) {
			var req protoapi.SignRequest
			if err := body("sign", in.RawBody, &req); err != nil {
				return nil, err
			}
			who := caller(ctx)
			return approved(a.approver.Sign(ctx, in.ID, req.Signed, who.Name))
		})
}

func approved(r resource.ApprovalRequest, err error) (*approvalAnswer, error) {
	if err != nil {
		return nil, problem(err)
	}
	return &approvalAnswer{r}, nil
}
