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

// discoveries asks for discoveries of servers.
type discoveries struct {
	room   Discovery
	status Decorator
}

func (d discoveries) routes(t *route.Table) {
	op := t.Operation(http.MethodPost, protoapi.PathKind(resource.KindServer)+"/{name}/discover", "discover",
		"Discover a server again that nobody owns; idempotent", reflect.TypeFor[protoapi.DiscoverRequest](),
		route.Rule{Right: access.Apply, Target: route.TargetNamed, Kind: resource.KindServer})
	route.Register(t, op, func(ctx context.Context, in *namedBody) (*answer[*resource.Server], error) {
		var req protoapi.DiscoverRequest
		if err := route.Body("discover", in.RawBody, &req); err != nil {
			return nil, err
		}
		s, err := d.room.Discover(ctx, in.Name, route.Caller(ctx).Name)
		return decorated(d.status, s, err)
	})
}

// Discovery finds out what servers are made of.
type Discovery interface {
	// Discover asks for another discovery of a server that nobody owns.
	Discover(ctx context.Context, server, by string) (*resource.Server, error)
}
