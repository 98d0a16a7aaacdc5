package api

import (
	"context"
	"net/http"
	"reflect"

	"rackboot/hub/api/route"
	protoapi "rackboot/protocol/api"
)

// userData gives agents sealed user data.
type userData struct {
	room   UserData
	agents route.Agents
	pulls  *throttle
}

func (u userData) routes(t *route.Table) {
	op := t.Operation(http.MethodPost, protoapi.PathIgnition, "ignition", "Give an agent the user data that is sealed for it", reflect.TypeFor[protoapi.IgnitionRequest](),
		route.Rule{Open: true, Secret: true})
	op.MaxBodyBytes, op.Security = maxJoinBody, nil // an agent's certificate, and no caller's
	route.Register(t, op, u.ignition)
}

func (u userData) ignition(ctx context.Context, in *strangerInput) (*answer[protoapi.IgnitionAnswer], error) {
	if err := u.pulls.admit(in.remote); err != nil {
		return nil, throttledProblem(err)
	}
	var req protoapi.IgnitionRequest
	if err := route.Body("fetch user data", in.RawBody, &req); err != nil {
		return nil, err
	}
	if err := req.Validate(); err != nil {
		return nil, route.Problem(err)
	}
	out, err := u.room.Ignition(ctx, req, u.agents(in.chains))
	if err != nil {
		return nil, route.Problem(err)
	}
	return &answer[protoapi.IgnitionAnswer]{out}, nil
}

// UserData is the user data of servers, sealed for agents.
type UserData interface {
	// Ignition is sealed user data for the agent of the certificate.
	Ignition(ctx context.Context, r protoapi.IgnitionRequest, certificate string) (protoapi.IgnitionAnswer, error)
}
