package api_test

import (
	"testing"

	"rackboot/hub/api/apitest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Who is no admin grants, denies and signs nothing; the caller is who the hub says, not
// who the body says.
func TestApprovals(t *testing.T) {
	h := apitest.New(t)
	h.Approver.Set(nil, []resource.ApprovalRequest{
		{Approval: resource.Approval{ID: "01a", Class: resource.ApproveBulkStop}, State: resource.ApprovalPending, Version: 2, Approvers: 2, Asked: []string{"ha"}},
	})
	admin, ha := h.Client(t), h.ClientOf(t, apitest.ClientToken)
	_, err := ha.Approvals.Grant(t.Context(), "01a", protoapi.GrantRequest{Version: 2})
	wantCode(t, err, protocol.CodeDenied)
	_, err = ha.Approvals.Sign(t.Context(), "01a", protoapi.SignRequest{Signed: []byte("x")})
	wantCode(t, err, protocol.CodeDenied)
	_, err = admin.Approvals.Grant(t.Context(), "01a", protoapi.GrantRequest{Version: 1})
	wantCode(t, err, protocol.CodeConflict)
	_, err = admin.Approvals.Get(t.Context(), "none")
	wantCode(t, err, protocol.CodeNotFound)
	if r, err := admin.Approvals.Grant(t.Context(), "01a", protoapi.GrantRequest{Version: 2}); err != nil || len(r.By) != 1 || r.By[0] != "admin" {
		t.Errorf("%+v, %v", r, err)
	}
	_, err = ha.Approvals.Deny(t.Context(), "01a", protoapi.DenyRequest{Reason: "withdrawn"})
	wantCode(t, err, protocol.CodeDenied)
	if r, err := admin.Approvals.Deny(t.Context(), "01a", protoapi.DenyRequest{Reason: "no"}); err != nil || r.DeniedBy != "admin" {
		t.Errorf("%+v, %v", r, err)
	}
	if all, err := ha.Approvals.List(t.Context()); err != nil || len(all) != 1 || all[0].State != resource.ApprovalDenied {
		t.Errorf("%+v, %v", all, err)
	}
}
