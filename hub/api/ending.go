package api

import (
	"context"
	"net/http"
	"reflect"

	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// registerEndings are the routes that end the term of an agent.
func (a *API) registerEndings() {
	end := reflect.TypeFor[protoapi.EndRequest]()
	op := a.operation(http.MethodPost, protoapi.PathKind(resource.KindAgent)+"/{name}/revoke", "revokeAgent",
		"Refuse an agent's certificate and key from now on; idempotent", end)
	register(a, op, func(ctx context.Context, in *namedBody) (*answer[protoapi.EndAnswer], error) {
		return a.ends(ctx, in, a.rooms.Members.Revoke)
	})
	op = a.operation(http.MethodPost, protoapi.PathKind(resource.KindRack)+"/{name}/replace-agent", "replaceAgent",
		"End the term of a rack's agent and make a token for the next", end)
	register(a, op, func(ctx context.Context, in *namedBody) (*answer[protoapi.EndAnswer], error) {
		return a.ends(ctx, in, a.rooms.Members.ReplaceAgent)
	})
}

func (a *API) ends(ctx context.Context, in *namedBody, do func(context.Context, string, protoapi.EndRequest, string) (protoapi.EndAnswer, error)) (*answer[protoapi.EndAnswer], error) {
	var req protoapi.EndRequest
	if err := body("end a term", in.RawBody, &req); err != nil {
		return nil, err
	}
	if err := req.Validate(); err != nil {
		return nil, problem(err)
	}
	out, err := do(ctx, in.Name, req, caller(ctx).Name)
	if err != nil {
		return nil, problem(err)
	}
	return &answer[protoapi.EndAnswer]{out}, nil
}
