package api

import (
	"context"
	"net/http"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

type traceInput struct {
	Name   string `path:"name" doc:"metadata.name of the server"`
	Serial int    `query:"attempt" minimum:"0" doc:"serial of a power-on that the agent keeps; 0 is the newest"`
}

// traces shows what agents saw of power-ons, and what they see now.
type traces struct{ room Traces }

func (x traces) routes(t *route.Table) {
	op := t.Operation(http.MethodGet, protoapi.PathKind(resource.KindServer)+"/{name}/trace", "traceServer",
		"Read what was seen of a power-on; waits for the rack's agent", nil,
		route.Rule{Right: access.Read, Target: route.TargetNamed, Kind: resource.KindServer})
	route.Register(t, op, func(ctx context.Context, in *traceInput) (*answer[resource.Trace], error) {
		t, err := x.room.Trace(ctx, in.Name, in.Serial)
		if err != nil {
			return nil, route.Problem(err)
		}
		return &answer[resource.Trace]{t}, nil
	})
	op = t.Operation(http.MethodGet, protoapi.PathKind(resource.KindServer)+"/{name}/read", "readServer",
		"Have a server's BMC read now, and say what it said; waits for the rack's agent", nil,
		route.Rule{Right: access.Read, Target: route.TargetNamed, Kind: resource.KindServer})
	route.Register(t, op, func(ctx context.Context, in *named) (*answer[resource.ServerRead], error) {
		r, err := x.room.Read(ctx, in.Name)
		if err != nil {
			return nil, route.Problem(err)
		}
		return &answer[resource.ServerRead]{r}, nil
	})
}

// Traces are what agents saw of power-ons, and see now.
type Traces interface {
	// Trace has the rack's agent say what it saw of a power-on; serial 0 is the newest.
	Trace(ctx context.Context, server string, serial int) (resource.Trace, error)
	// Read has the rack's agent read the server's BMC, by a read that begins after the call.
	Read(ctx context.Context, server string) (resource.ServerRead, error)
}
