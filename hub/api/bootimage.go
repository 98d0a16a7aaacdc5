package api

import (
	"context"
	"net/http"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/store"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

type bootImageInput struct {
	Name    string `path:"name" doc:"metadata.name of the resource"`
	IfMatch string `header:"If-Match" doc:"the ETag that the resource must have"`
	Force   bool   `query:"force" doc:"delete it although it is the current image of groups"`
}

// bootImages has the deletion of entries of catalogues, which has a query unlike other deletions.
type bootImages struct {
	store  *store.Store
	status Decorator
}

func (b bootImages) routes(t *route.Table) {
	const kind = resource.KindBootImage
	route.Register(t, t.Operation(http.MethodDelete, protoapi.PathKind(kind)+"/{name}", "deleteBootImage", "Delete", nil,
		route.Rule{Right: access.On(access.Delete, kind), Target: route.TargetNamed, Kind: kind}),
		func(ctx context.Context, in *bootImageInput) (*answer[*resource.BootImage], error) {
			guards, err := route.Unless(in.IfMatch)
			if err != nil {
				return nil, err
			}
			if !in.Force {
				guards = append(guards, b.store.BootImages.Unfollowed())
			}
			obj, err := b.store.Delete(ctx, kind, in.Name, guards...)
			if err != nil {
				return nil, route.Problem(err)
			}
			return decorated(b.status, obj.(*resource.BootImage), nil)
		})
}
