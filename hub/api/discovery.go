package api

import (
	"context"
	"net/http"
	"reflect"

	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func (a *API) registerDiscovery() {
	op := a.operation(http.MethodPost, protoapi.PathKind(resource.KindServer)+"/{name}/discover", "discover",
		"Discover a server again that nobody owns; idempotent", reflect.TypeFor[protoapi.DiscoverRequest]())
	register(a, op, func(ctx context.Context, in *namedBody) (*answer[*resource.Server], error) {
		var req protoapi.DiscoverRequest
		if err := body("discover", in.RawBody, &req); err != nil {
			return nil, err
		}
		s, err := a.rooms.Discovery.Discover(ctx, in.Name, caller(ctx).Name)
		return decorated(a, s, err)
	})
}

// Discovery finds out what servers are made of.
type Discovery interface {
	// Discover asks for another discovery of a server that nobody owns.
	Discover(ctx context.Context, server, by string) (*resource.Server, error)
}
