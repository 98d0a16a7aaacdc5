package api

import (
	"context"
	"net/http"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	protoapi "rackboot/protocol/api"
)

// Hubs knows which hubs share the store. It is used concurrently.
type Hubs interface {
	// Hubs are all, without what they work.
	Hubs() []protoapi.HubStatus
	// Hub is one, with what it works. The code is not_found.
	Hub(name string) (protoapi.HubStatus, error)
}

type hubName struct {
	Name string `path:"name" doc:"of the hub"`
}

// hubs shows which hubs there are.
type hubs struct {
	room Hubs
	lost losses
}

func (h hubs) routes(t *route.Table) {
	route.Register(t, t.Operation(http.MethodGet, protoapi.PathHubs, "listHubs", "List the hubs that share the store, as this one sees them", nil,
		route.Rule{Right: access.Read, Target: route.TargetWhole}),
		func(ctx context.Context, _ *struct{}) (*answer[protoapi.HubList], error) {
			return &answer[protoapi.HubList]{protoapi.HubList{Items: h.room.Hubs(), Incomplete: h.lost.of(ctx, "hubs")}}, nil
		})
	route.Register(t, t.Operation(http.MethodGet, protoapi.PathHubs+"/{name}", "getHub", "Read one of the hubs that share the store, and what it works", nil,
		route.Rule{Right: access.Read, Target: route.TargetWhole}),
		func(_ context.Context, in *hubName) (*answer[protoapi.HubStatus], error) {
			one, err := h.room.Hub(in.Name)
			if err != nil {
				return nil, route.Problem(err)
			}
			return &answer[protoapi.HubStatus]{one}, nil
		})
}
