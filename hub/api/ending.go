package api

import (
	"context"
	"net/http"
	"reflect"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// endings has the routes that end the term of an agent, or of all but one of the same disk.
type endings struct{ members Members }

func (e endings) routes(t *route.Table) {
	end := reflect.TypeFor[protoapi.EndRequest]()
	op := t.Operation(http.MethodPost, protoapi.PathKind(resource.KindAgent)+"/{name}/revoke", "revokeAgent",
		"Refuse an agent's certificate and key from now on; idempotent", end,
		route.Rule{Right: access.Revoke, Target: route.TargetWhole})
	route.Register(t, op, func(ctx context.Context, in *namedBody) (*answer[protoapi.EndAnswer], error) {
		return e.ends(ctx, in, e.members.Revoke)
	})
	op = t.Operation(http.MethodPost, protoapi.PathKind(resource.KindRack)+"/{name}/replace-agent", "replaceAgent",
		"End the term of a rack's agent and make a token for the next", end,
		route.Rule{Right: access.Replace, Target: route.TargetNamed, Kind: resource.KindRack, Secret: true})
	route.Register(t, op, func(ctx context.Context, in *namedBody) (*answer[protoapi.EndAnswer], error) {
		return e.ends(ctx, in, e.members.ReplaceAgent)
	})
	op = t.Operation(http.MethodPost, protoapi.PathKind(resource.KindRack)+"/{name}/failover", "failover",
		"Have the standby of a rack serve it", reflect.TypeFor[protoapi.FailoverRequest](),
		route.Rule{Right: access.Replace, Noted: "failover", Target: route.TargetNamed, Kind: resource.KindRack})
	route.Register(t, op, e.failover)
	op = t.Operation(http.MethodPost, protoapi.PathKind(resource.KindRack)+"/{name}/settle", "settleFailover",
		"End what a failover left open: servers may be switched on again", reflect.TypeFor[protoapi.SettleRequest](),
		route.Rule{Right: access.Replace, Noted: "settle", Target: route.TargetNamed, Kind: resource.KindRack})
	route.Register(t, op, e.settle)
	op = t.Operation(http.MethodPost, protoapi.PathKind(resource.KindRack)+"/{name}/keep-agent", "keepAgent",
		"Say which of several agents of one disk goes on; idempotent", reflect.TypeFor[protoapi.KeepRequest](),
		route.Rule{Right: access.Replace, Target: route.TargetNamed, Kind: resource.KindRack})
	route.Register(t, op, e.keeps)
}

func (e endings) failover(ctx context.Context, in *namedBody) (*answer[protoapi.FailoverAnswer], error) {
	var req protoapi.FailoverRequest
	if err := route.Body("fail over", in.RawBody, &req); err != nil {
		return nil, err
	}
	out, err := e.members.Failover(ctx, in.Name, req, route.Caller(ctx).Name)
	if err != nil {
		return nil, route.Problem(err)
	}
	return &answer[protoapi.FailoverAnswer]{out}, nil
}

func (e endings) settle(ctx context.Context, in *namedBody) (*answer[protoapi.SettleAnswer], error) {
	var req protoapi.SettleRequest
	if err := route.Body("settle a failover", in.RawBody, &req); err != nil {
		return nil, err
	}
	out, err := e.members.Settle(ctx, in.Name, req, route.Caller(ctx).Name)
	if err != nil {
		return nil, route.Problem(err)
	}
	return &answer[protoapi.SettleAnswer]{out}, nil
}

func (e endings) keeps(ctx context.Context, in *namedBody) (*answer[protoapi.KeepAnswer], error) {
	var req protoapi.KeepRequest
	if err := route.Body("keep an agent", in.RawBody, &req); err != nil {
		return nil, err
	}
	if err := req.Validate(); err != nil {
		return nil, route.Problem(err)
	}
	out, err := e.members.KeepAgent(ctx, in.Name, req, route.Caller(ctx).Name)
	if err != nil {
		return nil, route.Problem(err)
	}
	return &answer[protoapi.KeepAnswer]{out}, nil
}

func (e endings) ends(ctx context.Context, in *namedBody, do func(context.Context, string, protoapi.EndRequest, string) (protoapi.EndAnswer, error)) (*answer[protoapi.EndAnswer], error) {
	var req protoapi.EndRequest
	if err := route.Body("end a term", in.RawBody, &req); err != nil {
		return nil, err
	}
	if err := req.Validate(); err != nil {
		return nil, route.Problem(err)
	}
	out, err := do(ctx, in.Name, req, route.Caller(ctx).Name)
	if err != nil {
		return nil, route.Problem(err)
	}
	return &answer[protoapi.EndAnswer]{out}, nil
}
