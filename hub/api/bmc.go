package api

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"time"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// maxURI bounds the path of a system in a request.
const maxURI = 512

func (a *API) registerBMCs() {
	bmcs, servers := protoapi.PathKind(resource.KindBMC)+"/{name}", protoapi.PathKind(resource.KindServer)+"/{name}"
	op := a.operation(http.MethodPost, bmcs+"/accept", "acceptBMC",
		"Accept a BMC that was found; idempotent", reflect.TypeFor[protoapi.AcceptBMC]())
	register(a, op, func(ctx context.Context, in *namedBody) (*answer[*resource.BMC], error) {
		var req protoapi.AcceptBMC
		if err := body("accept bmc", in.RawBody, &req); err != nil {
			return nil, err
		}
		b, err := a.rooms.Inventory.AcceptBMC(ctx, in.Name, req, caller(ctx).Name)
		return decorated(a, b, err)
	})

	op = a.operation(http.MethodPost, servers+"/accept", "acceptServer",
		"Accept the board and interfaces that a server shows; idempotent", reflect.TypeFor[protoapi.AcceptServer]())
	register(a, op, func(ctx context.Context, in *namedBody) (*answer[*resource.Server], error) {
		var req protoapi.AcceptServer
		if err := body("accept server", in.RawBody, &req); err != nil {
			return nil, err
		}
		s, err := a.rooms.Inventory.AcceptServer(ctx, in.Name, req, caller(ctx).Name)
		return decorated(a, s, err)
	})

	op = a.operation(http.MethodPost, bmcs+"/rotate", "rotateBMC",
		"Change the account of a BMC; no change while one is under way", reflect.TypeFor[protoapi.RotateBMC]())
	register(a, op, func(ctx context.Context, in *namedBody) (*answer[*resource.BMC], error) {
		var req protoapi.RotateBMC
		if err := body("rotate account", in.RawBody, &req); err != nil {
			return nil, err
		}
		b, err := a.rooms.Inventory.RotateBMC(ctx, in.Name, req, caller(ctx).Name)
		return decorated(a, b, err)
	})

	op = a.operation(http.MethodPost, bmcs+"/probe", "probeBMC",
		"Find out what a BMC can do, by reads alone; waits for the rack's agent", reflect.TypeFor[protoapi.ProbeRequest]())
	register(a, op, a.probe)
}

func (a *API) probe(ctx context.Context, in *namedBody) (*answer[protoapi.ProbeList], error) {
	const op = "probe"
	var req protoapi.ProbeRequest
	if err := body(op, in.RawBody, &req); err != nil {
		return nil, err
	}
	if u := req.SystemURI; u != "" && (!strings.HasPrefix(u, "/redfish/") || len(u) > maxURI) {
		return nil, problem(protocol.Errorf(protocol.CodeInvalid, op, "systemURI is not a path such as /redfish/v1/Systems/1").
			WithHint("rackctl describe bmc %s shows its systems; leave it out for all of them", in.Name))
	}
	list, err := a.rooms.Inventory.Probe(ctx, in.Name, req.SystemURI)
	if err != nil {
		return nil, problem(err)
	}
	return &answer[protoapi.ProbeList]{protoapi.ProbeList{Items: list}}, nil
}

// patience is how long a request may take: one that waits for an agent, an export and
// an import take longer than what the hub answers at once.
func patience(r *http.Request) time.Duration {
	bmcs := protoapi.PathKind(resource.KindBMC) + "/"
	if rest, ok := strings.CutPrefix(r.URL.Path, bmcs); ok && r.Method == http.MethodPost && strings.HasSuffix(rest, "/probe") {
		return protoapi.ProbeWait + requestTimeout
	}
	switch {
	case streams(r):
		return protoapi.ISOPieceWait
	case isFinish(r):
		return protoapi.ISOFinishWait
	}
	switch r.URL.Path {
	case protoapi.PathAuditExport:
		return protoapi.AuditWait
	case protoapi.PathImport:
		return protoapi.ImportWait
	}
	return requestTimeout
}

// extend lets a connection wait as long as its request may take.
func extend(w http.ResponseWriter, allowed time.Duration) {
	if allowed == requestTimeout {
		return
	}
	rc, until := http.NewResponseController(w), time.Now().Add(allowed+requestTimeout)
	// A writer without deadlines has none to extend. The read deadline too: while a
	// handler runs, the connection is read to see whether the client is gone.
	_ = rc.SetWriteDeadline(until)
	_ = rc.SetReadDeadline(until)
}

// Inventory is what is known of BMCs and of what is behind them.
type Inventory interface {
	// AcceptBMC makes a BMC that was found an accepted one.
	AcceptBMC(ctx context.Context, name string, r protoapi.AcceptBMC, by string) (*resource.BMC, error)
	// RotateBMC begins the change of a BMC's account.
	RotateBMC(ctx context.Context, name string, r protoapi.RotateBMC, by string) (*resource.BMC, error)
	// AcceptServer accepts the board and interfaces that a server shows.
	AcceptServer(ctx context.Context, name string, r protoapi.AcceptServer, by string) (*resource.Server, error)
	// Probe has the rack's agent find out what a BMC can do. It takes minutes.
	Probe(ctx context.Context, bmc, systemURI string) ([]protocol.Probe, error)
}
