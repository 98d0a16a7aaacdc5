package api

import (
	"context"
	"net/http"
	"reflect"

	"rackboot/hub/api/route"
	protoapi "rackboot/protocol/api"
)

// envBundles gives agents sealed boot environments.
type envBundles struct {
	room   EnvBundles
	agents route.Agents
	pulls  *throttle
}

func (b envBundles) routes(t *route.Table) {
	op := t.Operation(http.MethodPost, protoapi.PathEnvBundle, "envBundle", "Give an agent the boot environment that is sealed for it", reflect.TypeFor[protoapi.EnvBundleRequest](),
		route.Rule{Open: true, Secret: true})
	op.MaxBodyBytes, op.Security = maxJoinBody, nil // an agent's certificate, and no caller's
	route.Register(t, op, b.envBundle)
}

func (b envBundles) envBundle(ctx context.Context, in *strangerInput) (*answer[protoapi.EnvBundleAnswer], error) {
	if err := b.pulls.admit(in.remote); err != nil {
		return nil, throttledProblem(err)
	}
	var req protoapi.EnvBundleRequest
	if err := route.Body("fetch boot environment", in.RawBody, &req); err != nil {
		return nil, err
	}
	if err := req.Validate(); err != nil {
		return nil, route.Problem(err)
	}
	out, err := b.room.EnvBundle(ctx, req, b.agents(in.chains))
	if err != nil {
		return nil, route.Problem(err)
	}
	return &answer[protoapi.EnvBundleAnswer]{out}, nil
}

// EnvBundles are boot environments, sealed for agents.
type EnvBundles interface {
	// EnvBundle is a sealed boot environment for the agent of the certificate.
	EnvBundle(ctx context.Context, r protoapi.EnvBundleRequest, certificate string) (protoapi.EnvBundleAnswer, error)
}
