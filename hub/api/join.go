package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

func (a *API) registerJoin() {
	huma.Register(a.huma, a.operation(http.MethodPost, protoapi.PathKind(protocol.KindRack)+"/{name}/join-token", "joinToken",
		"Make a token with which one agent joins the rack", nil),
		func(ctx context.Context, in *named) (*answer[protoapi.JoinToken], error) {
			if _, err := a.store.GetObject(protocol.KindRack, in.Name); err != nil {
				return nil, problem(err)
			}
			token, err := a.fleet.NewJoinToken(ctx, in.Name)
			if err != nil {
				return nil, problem(err)
			}
			return &answer[protoapi.JoinToken]{token}, nil
		})

	op := a.operation(http.MethodPost, protoapi.PathJoin, "join", "Join an agent with its one-time token", reflect.TypeFor[protoapi.JoinRequest]())
	register(a, op, func(ctx context.Context, in *bodyInput) (*answer[protoapi.JoinAnswer], error) {
		var req protoapi.JoinRequest
		if err := body("join", in.RawBody, &req); err != nil {
			return nil, err
		}
		out, err := a.fleet.Join(ctx, req)
		if err != nil {
			return nil, problem(err)
		}
		return &answer[protoapi.JoinAnswer]{out}, nil
	})
}
