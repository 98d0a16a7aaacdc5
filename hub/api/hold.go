package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

type holdID struct {
	ID string `path:"id" doc:"of the hold"`
}

func (a *API) registerHolds() {
	op := a.operation(http.MethodPost, protoapi.PathKind(protocol.KindServer)+"/{name}/holds", "hold",
		"Hold a server off; idempotent by caller, key and server", reflect.TypeFor[protoapi.HoldRequest]())
	register(a, op, a.hold)

	huma.Register(a.huma, a.operation(http.MethodPost, protoapi.PathKind(protocol.KindHold)+"/{id}/release", "release",
		"Release a hold; idempotent", nil),
		func(ctx context.Context, in *holdID) (*answer[*protocol.Hold], error) {
			hold, err := a.store.ReleaseHold(ctx, in.ID, caller(ctx))
			return decorated(a, hold, err)
		})
}

func (a *API) hold(ctx context.Context, in *namedBody) (*answer[*protocol.Hold], error) {
	var req protoapi.HoldRequest
	if err := body("hold", in.RawBody, &req); err != nil {
		return nil, err
	}
	hold, err := a.store.CreateHold(ctx, &protocol.Hold{Spec: protocol.HoldSpec{
		Server: in.Name, Key: req.Key, Owner: caller(ctx), Mode: req.Mode,
		SoftTimeout: req.SoftTimeout, Reason: req.Reason, Ref: req.Ref,
	}})
	return decorated(a, hold, err)
}
