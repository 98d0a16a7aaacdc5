package api

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// maxURI bounds the path of a system in a request.
const maxURI = 512

// bmcs has what is done to BMCs, and to servers as they show themselves.
type bmcs struct {
	room   Inventory
	status Decorator
}

func (b bmcs) routes(t *route.Table) {
	one, servers := protoapi.PathKind(resource.KindBMC)+"/{name}", protoapi.PathKind(resource.KindServer)+"/{name}"
	op := t.Operation(http.MethodPost, one+"/accept", "acceptBMC",
		"Accept a BMC that was found; idempotent", reflect.TypeFor[protoapi.AcceptBMC](),
		route.Rule{Right: access.Accept, Target: route.TargetNamed, Kind: resource.KindBMC})
	route.Register(t, op, func(ctx context.Context, in *namedBody) (*answer[*resource.BMC], error) {
		var req protoapi.AcceptBMC
		if err := route.Body("accept bmc", in.RawBody, &req); err != nil {
			return nil, err
		}
		found, err := b.room.AcceptBMC(ctx, in.Name, req, route.Caller(ctx).Name)
		return decorated(b.status, found, err)
	})

	op = t.Operation(http.MethodPost, servers+"/accept", "acceptServer",
		"Accept the board and interfaces that a server shows; idempotent", reflect.TypeFor[protoapi.AcceptServer](),
		route.Rule{Right: access.Accept, Target: route.TargetNamed, Kind: resource.KindServer})
	route.Register(t, op, func(ctx context.Context, in *namedBody) (*answer[*resource.Server], error) {
		var req protoapi.AcceptServer
		if err := route.Body("accept server", in.RawBody, &req); err != nil {
			return nil, err
		}
		s, err := b.room.AcceptServer(ctx, in.Name, req, route.Caller(ctx).Name)
		return decorated(b.status, s, err)
	})

	op = t.Operation(http.MethodPost, servers+"/re-enrol", "reEnrolServer",
		"Have the agent forget a server's TPM, so that the next discovery enrols one; idempotent", reflect.TypeFor[protoapi.ReEnrolServer](),
		route.Rule{Right: access.Accept, Target: route.TargetNamed, Kind: resource.KindServer, Noted: "re-enrol"})
	route.Register(t, op, func(ctx context.Context, in *namedBody) (*answer[*resource.Server], error) {
		var req protoapi.ReEnrolServer
		if err := route.Body("re-enrol server", in.RawBody, &req); err != nil {
			return nil, err
		}
		s, err := b.room.ReEnrolServer(ctx, in.Name, req, route.Caller(ctx).Name)
		return decorated(b.status, s, err)
	})

	op = t.Operation(http.MethodPost, one+"/rotate", "rotateBMC",
		"Change the account of a BMC; no change while one is under way", reflect.TypeFor[protoapi.RotateBMC](),
		route.Rule{Right: access.Secret, Target: route.TargetNamed, Kind: resource.KindBMC})
	route.Register(t, op, func(ctx context.Context, in *namedBody) (*answer[*resource.BMC], error) {
		var req protoapi.RotateBMC
		if err := route.Body("rotate account", in.RawBody, &req); err != nil {
			return nil, err
		}
		found, err := b.room.RotateBMC(ctx, in.Name, req, route.Caller(ctx).Name)
		return decorated(b.status, found, err)
	})

	op = t.Operation(http.MethodPost, one+"/probe", "probeBMC",
		"Find out what a BMC can do, by reads alone; waits for the rack's agent", reflect.TypeFor[protoapi.ProbeRequest](),
		route.Rule{Right: access.Accept, Target: route.TargetNamed, Kind: resource.KindBMC})
	route.Register(t, op, b.probe)
}

func (b bmcs) probe(ctx context.Context, in *namedBody) (*answer[protoapi.ProbeList], error) {
	const op = "probe"
	var req protoapi.ProbeRequest
	if err := route.Body(op, in.RawBody, &req); err != nil {
		return nil, err
	}
	if u := req.SystemURI; u != "" && (!strings.HasPrefix(u, "/redfish/") || len(u) > maxURI) {
		return nil, route.Problem(protocol.Errorf(protocol.CodeInvalid, op, "systemURI is not a path such as /redfish/v1/Systems/1").
			WithHint("rackctl describe bmc %s shows its systems; leave it out for all of them", in.Name))
	}
	list, err := b.room.Probe(ctx, in.Name, req.SystemURI)
	if err != nil {
		return nil, route.Problem(err)
	}
	return &answer[protoapi.ProbeList]{protoapi.JudgeProbes(list)}, nil
}

// Inventory is what is known of BMCs and of what is behind them.
type Inventory interface {
	// AcceptBMC makes a BMC that was found an accepted one.
	AcceptBMC(ctx context.Context, name string, r protoapi.AcceptBMC, by string) (*resource.BMC, error)
	// RotateBMC begins the change of a BMC's account.
	RotateBMC(ctx context.Context, name string, r protoapi.RotateBMC, by string) (*resource.BMC, error)
	// AcceptServer accepts the board and interfaces that a server shows.
	AcceptServer(ctx context.Context, name string, r protoapi.AcceptServer, by string) (*resource.Server, error)
	// ReEnrolServer has the agent forget the TPM of a server.
	ReEnrolServer(ctx context.Context, name string, r protoapi.ReEnrolServer, by string) (*resource.Server, error)
	// Probe has the rack's agent find out what a BMC can do. It takes minutes.
	Probe(ctx context.Context, bmc, systemURI string) ([]protocol.Probe, error)
}
