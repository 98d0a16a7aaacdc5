package api

import (
	"bytes"
	"context"
	"net/http"
	"reflect"
	"strings"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

type holdBody struct {
	ID      string `path:"id" doc:"of the hold"`
	RawBody []byte `contentType:"application/json"`
}

// holds places and releases holds.
type holds struct {
	holds   *store.Holds
	objects *store.Objects
	status  Decorator
}

func (h holds) routes(t *route.Table) {
	op := t.Operation(http.MethodPost, protoapi.PathKind(resource.KindServer)+"/{name}/holds", "hold",
		"Hold a server off; idempotent by caller, key and server", reflect.TypeFor[protoapi.HoldRequest](),
		route.Rule{Right: access.Hold, Target: route.TargetNamed, Kind: resource.KindServer, Hold: true})
	route.Register(t, op, h.hold)

	op = t.Operation(http.MethodPost, protoapi.PathKind(resource.KindHold)+"/{id}/release", "release",
		"Release a hold; idempotent. Without a body by its owner", reflect.TypeFor[protoapi.ReleaseRequest](),
		route.Rule{Right: access.Release, Target: route.TargetNamed, Kind: resource.KindHold, Hold: true})
	route.Register(t, op, h.release)
	op.RequestBody.Required = false // huma takes every raw body for required

	op = t.Operation(http.MethodPost, protoapi.PathKind(resource.KindHold)+"/{id}/confirm-down", "confirmDown",
		"Say that a held server is down whose BMC does not answer; idempotent", reflect.TypeFor[protoapi.ConfirmRequest](),
		route.Rule{Right: access.Confirm, Target: route.TargetNamed, Kind: resource.KindHold})
	route.Register(t, op, h.confirmDown)
}

func (h holds) hold(ctx context.Context, in *namedBody) (*answer[*resource.Hold], error) {
	var req protoapi.HoldRequest
	if err := route.Body("hold", in.RawBody, &req); err != nil {
		return nil, err
	}
	hold, err := h.holds.Create(ctx, &resource.Hold{Spec: resource.HoldSpec{Server: in.Name, Owner: route.Caller(ctx).Name, HoldTerms: req.HoldTerms}})
	return decorated(h.status, hold, err)
}

func (h holds) release(ctx context.Context, in *holdBody) (*answer[*resource.Hold], error) {
	const op = "release"
	var req protoapi.ReleaseRequest
	if len(bytes.TrimSpace(in.RawBody)) > 0 {
		if err := route.Body(op, in.RawBody, &req); err != nil {
			return nil, err
		}
	}
	if len(req.BreakGlass) > protoapi.MaxReason {
		return nil, route.Problem(protocol.Errorf(protocol.CodeInvalid, op, "the reason is longer than %d bytes", protoapi.MaxReason).
			WithHint("say it shorter"))
	}
	hold, err := store.Get[*resource.Hold](h.objects, in.ID)
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		if gone, err := h.holds.Released(ctx, in.ID); err == nil {
			return &answer[*resource.Hold]{gone}, nil // as the agent has acknowledged
		}
	}
	if err != nil || hold.Status.ReleasedAt != nil {
		return decorated(h.status, hold, err)
	}
	// The owner of a hold never changes, so it may be judged before it is released.
	reason, err := allowed(op, hold, route.Caller(ctx), req.BreakGlass)
	if err != nil {
		return nil, route.Problem(err)
	}
	hold, err = h.holds.Release(ctx, in.ID, route.Caller(ctx).Name, reason)
	return decorated(h.status, hold, err)
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

func (h holds) confirmDown(ctx context.Context, in *holdBody) (*answer[*resource.Hold], error) {
	const op = "confirm down"
	var req protoapi.ConfirmRequest
	if err := route.Body(op, in.RawBody, &req); err != nil {
		return nil, err
	}
	hold, err := store.Get[*resource.Hold](h.objects, in.ID)
	if err != nil {
		return nil, route.Problem(err)
	}
	// Who relies on the hold acts on it, so nobody says so of a stranger's hold.
	if _, err := allowed(op, hold, route.Caller(ctx), req.Reason); err != nil && strings.TrimSpace(req.Reason) != "" {
		return nil, route.Problem(err)
	}
	hold, err = h.holds.ConfirmDown(ctx, in.ID, route.Caller(ctx).Name, req.Reason)
	return decorated(h.status, hold, err)
}
