package api

import (
	"bytes"
	"context"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"rackboot/hub/access"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// maxReason bounds a reason in bytes.
const maxReason = 1024

type holdBody struct {
	ID      string `path:"id" doc:"of the hold"`
	RawBody []byte `contentType:"application/json"`
}

func (a *API) registerHolds() {
	op := a.operation(http.MethodPost, protoapi.PathKind(resource.KindServer)+"/{name}/holds", "hold",
		"Hold a server off; idempotent by caller, key and server", reflect.TypeFor[protoapi.HoldRequest]())
	register(a, op, a.hold)

	op = a.operation(http.MethodPost, protoapi.PathKind(resource.KindHold)+"/{id}/release", "release",
		"Release a hold; idempotent. Without a body by its owner", reflect.TypeFor[protoapi.ReleaseRequest]())
	register(a, op, a.release)
	op.RequestBody.Required = false // huma takes every raw body for required

	op = a.operation(http.MethodPost, protoapi.PathKind(resource.KindHold)+"/{id}/confirm-down", "confirmDown",
		"Say that a held server is down whose BMC does not answer; idempotent", reflect.TypeFor[protoapi.ConfirmRequest]())
	register(a, op, a.confirmDown)
}

func (a *API) hold(ctx context.Context, in *namedBody) (*answer[*resource.Hold], error) {
	var req protoapi.HoldRequest
	if err := body("hold", in.RawBody, &req); err != nil {
		return nil, err
	}
	hold, err := a.store.CreateHold(ctx, &resource.Hold{Spec: resource.HoldSpec{Server: in.Name, Owner: caller(ctx).Name, HoldTerms: req.HoldTerms}})
	return decorated(a, hold, err)
}

func (a *API) release(ctx context.Context, in *holdBody) (*answer[*resource.Hold], error) {
	const op = "release"
	var req protoapi.ReleaseRequest
	if len(bytes.TrimSpace(in.RawBody)) > 0 {
		if err := body(op, in.RawBody, &req); err != nil {
			return nil, err
		}
	}
	if len(req.BreakGlass) > maxReason {
		return nil, problem(protocol.Errorf(protocol.CodeInvalid, op, "the reason is longer than %d bytes", maxReason).
			WithHint("say it shorter"))
	}
	hold, err := store.Get[*resource.Hold](a.store, in.ID)
	if err != nil || hold.Status.ReleasedAt != nil {
		return decorated(a, hold, err)
	}
	// The owner of a hold never changes, so it may be judged before it is released.
	reason, err := allowed(op, hold, caller(ctx), req.BreakGlass)
	if err != nil {
		return nil, problem(err)
	}
	hold, err = a.store.ReleaseHold(ctx, in.ID, caller(ctx).Name, reason)
	return decorated(a, hold, err)
}

// allowed says whether somebody may release a hold, and the reason that is kept of it.
func allowed(op string, h *resource.Hold, who access.Caller, reason string) (keep string, err error) {
	reason = strings.TrimSpace(reason)
	denied := protocol.Errorf(protocol.CodeDenied, op, "hold %s is %q's, and %q is not its owner", h.Metadata.Name, h.Spec.Owner, who.Name)
	switch plan.MayRelease(h.Spec.Owner == who.Name, reason != "", who.BreakGlass) {
	case plan.ReleaseOwn:
		return "", nil
	case plan.ReleaseForced:
		return reason, nil
	case plan.ReleaseAsk:
		return "", denied.WithHint("if the owner cannot, break glass: rackctl release %s --break-glass REASON; it is recorded", h.Metadata.Name)
	case plan.ReleaseDenied:
	}
	return "", denied.WithHint("ask %q, or somebody with the right to break glass (breakGlass of clients in hub.yaml)", h.Spec.Owner)
}

func (a *API) confirmDown(ctx context.Context, in *holdBody) (*answer[*resource.Hold], error) {
	const op = "confirm down"
	var req protoapi.ConfirmRequest
	if err := body(op, in.RawBody, &req); err != nil {
		return nil, err
	}
	hold, err := store.Get[*resource.Hold](a.store, in.ID)
	if err != nil {
		return nil, problem(err)
	}
	// Who relies on the hold acts on it, so nobody says so of a stranger's hold.
	if _, err := allowed(op, hold, caller(ctx), req.Reason); err != nil && strings.TrimSpace(req.Reason) != "" {
		return nil, problem(err)
	}
	hold, err = a.store.ConfirmDown(ctx, in.ID, caller(ctx).Name, req.Reason)
	return decorated(a, hold, err)
}

type claimInput struct {
	Name         string `path:"name" doc:"metadata.name of the resource"`
	IfMatch      string `header:"If-Match" doc:"the ETag that the resource must have"`
	ReleaseHolds string `query:"releaseHolds" doc:"why all holds on its server are released with it; without it a hold refuses the deletion"`
}

// registerClaims: the deletion of a claim has a query, unlike other deletions.
func (a *API) registerClaims() {
	huma.Register(a.huma, a.operation(http.MethodDelete, protoapi.PathKind(resource.KindClaim)+"/{name}", "deleteClaim", "Begin to delete", nil),
		func(ctx context.Context, in *claimInput) (*answer[*resource.Claim], error) {
			who, reason := caller(ctx), strings.TrimSpace(in.ReleaseHolds)
			if reason != "" && !access.MayAnywhere(who, access.Release) {
				return nil, problem(denied(who, access.Release, access.DeniedRole, ""))
			}
			guards, err := unless(in.IfMatch)
			if err != nil {
				return nil, err
			}
			claim, err := a.store.DeleteClaim(ctx, in.Name, store.HoldRelease{By: who.Name, BreakGlass: who.BreakGlass, Reason: reason}, guards...)
			return decorated(a, claim, err)
		})
}
