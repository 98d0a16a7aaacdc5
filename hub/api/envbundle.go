package api

import (
	"context"
	"net/http"
	"reflect"

	protoapi "rackboot/protocol/api"
)

func (a *API) registerEnvBundle() {
	op := a.operation(http.MethodPost, protoapi.PathEnvBundle, "envBundle", "Give an agent the boot environment that is sealed for it", reflect.TypeFor[protoapi.EnvBundleRequest]())
	op.MaxBodyBytes, op.Security = maxJoinBody, nil // an agent's certificate, and no caller's
	register(a, op, a.envBundle)
}

func (a *API) envBundle(ctx context.Context, in *strangerInput) (*answer[protoapi.EnvBundleAnswer], error) {
	if err := a.pulls.admit(in.remote); err != nil {
		return nil, throttledProblem(err)
	}
	var req protoapi.EnvBundleRequest
	if err := body("fetch boot environment", in.RawBody, &req); err != nil {
		return nil, err
	}
	if err := req.Validate(); err != nil {
		return nil, problem(err)
	}
	out, err := a.rooms.Carried.EnvBundle(ctx, req, a.agentOf(in.chains))
	if err != nil {
		return nil, problem(err)
	}
	return &answer[protoapi.EnvBundleAnswer]{out}, nil
}
