package api

import (
	"context"
	"net/http"
	"reflect"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
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

// approvals has no routes without an Approver.
type approvals struct {
	room Approver
	lost losses
}

func (a approvals) routes(t *route.Table) {
	if a.room == nil {
		return
	}
	route.Register(t, t.Operation(http.MethodGet, protoapi.PathApprovals, "listApprovals", "List approvals of destructive actions", nil,
		route.Rule{Right: access.Read, Target: route.TargetWhole}),
		func(ctx context.Context, _ *struct{}) (*answer[protoapi.List[resource.ApprovalRequest]], error) {
			list := a.room.List()
			if list == nil {
				list = []resource.ApprovalRequest{}
			}
			return &answer[protoapi.List[resource.ApprovalRequest]]{protoapi.List[resource.ApprovalRequest]{APIVersion: resource.APIVersion, Kind: "ApprovalList", Items: list, Incomplete: a.lost.of(ctx, "approval")}}, nil
		})
	route.Register(t, t.Operation(http.MethodGet, protoapi.PathApprovals+"/{id}", "getApproval", "Read one approval", nil,
		route.Rule{Right: access.Read, Target: route.TargetWhole}),
		func(_ context.Context, in *approvalID) (*approvalAnswer, error) {
			return approved(a.room.Get(in.ID))
		})
	route.Register(t, t.Operation(http.MethodPost, protoapi.PathApprovals+"/{id}/grant", "grantApproval",
		"Grant an approval as it was read; idempotent", reflect.TypeFor[protoapi.GrantRequest](),
		route.Rule{Right: access.Approve, Target: route.TargetWhole}),
		func(ctx context.Context, in *approvalBody) (*approvalAnswer, error) {
			var req protoapi.GrantRequest
			if err := route.Body("grant", in.RawBody, &req); err != nil {
				return nil, err
			}
			who := route.Caller(ctx)
			return approved(a.room.Grant(ctx, in.ID, req.Version, who.Name, mayApprove(who)))
		})
	route.Register(t, t.Operation(http.MethodPost, protoapi.PathApprovals+"/{id}/deny", "denyApproval",
		"Deny an approval; idempotent", reflect.TypeFor[protoapi.DenyRequest](),
		route.Rule{Right: access.Approve, Target: route.TargetWhole}),
		func(ctx context.Context, in *approvalBody) (*approvalAnswer, error) {
			var req protoapi.DenyRequest
			if err := route.Body("deny", in.RawBody, &req); err != nil {
				return nil, err
			}
			who := route.Caller(ctx)
			return approved(a.room.Deny(ctx, in.ID, who.Name, req.Reason, mayApprove(who)))
		})
	route.Register(t, t.Operation(http.MethodPost, protoapi.PathApprovals+"/{id}/sign", "signApproval",
		"Give a granted approval the signature of the destructive key; idempotent", reflect.TypeFor[protoapi.SignRequest](),
		route.Rule{Right: access.Approve, Target: route.TargetWhole}),
		func(ctx context.Context, in *approvalBody) (*approvalAnswer, error) {
			var req protoapi.SignRequest
			if err := route.Body("sign", in.RawBody, &req); err != nil {
				return nil, err
			}
			who := route.Caller(ctx)
			return approved(a.room.Sign(ctx, in.ID, req.Signed, who.Name))
		})
}

func approved(r resource.ApprovalRequest, err error) (*approvalAnswer, error) {
	if err != nil {
		return nil, route.Problem(err)
	}
	return &approvalAnswer{r}, nil
}
