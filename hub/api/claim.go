package api

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/store"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

type claimInput struct {
	Name         string `path:"name" doc:"metadata.name of the resource"`
	IfMatch      string `header:"If-Match" doc:"the ETag that the resource must have"`
	ReleaseHolds string `query:"releaseHolds" doc:"why all holds on its server are released with it; without it a hold refuses the deletion"`
}

// claims has what is done to claims besides writing them. Their deletion has a query, unlike
// other deletions. Somebody says of a system that no agent of this hub has installed what becomes
// of it.
type claims struct {
	claims *store.Claims
	room   Claims
	status Decorator
}

func (c claims) routes(t *route.Table) {
	route.Register(t, t.Operation(http.MethodDelete, protoapi.PathKind(resource.KindClaim)+"/{name}", "deleteClaim", "Begin to delete", nil,
		route.Rule{Right: access.On(access.Delete, resource.KindClaim), Target: route.TargetNamed, Kind: resource.KindClaim}),
		func(ctx context.Context, in *claimInput) (*answer[*resource.Claim], error) {
			who, reason := route.Caller(ctx), strings.TrimSpace(in.ReleaseHolds)
			if reason != "" && !access.MayAnywhere(who, access.Release) {
				return nil, route.Problem(route.Denied(who, access.Release, access.DeniedRole, ""))
			}
			guards, err := route.Unless(in.IfMatch)
			if err != nil {
				return nil, err
			}
			claim, err := c.claims.Delete(ctx, in.Name, store.HoldRelease{By: who.Name, BreakGlass: who.BreakGlass, Reason: reason}, guards...)
			return decorated(c.status, claim, err)
		})

	op := t.Operation(http.MethodPost, protoapi.PathKind(resource.KindServer)+"/{name}/adopt", "adoptServer",
		"Keep the system of a claimed server, or let it be installed over; idempotent", reflect.TypeFor[protoapi.AdoptRequest](),
		route.Rule{Right: access.Accept, Target: route.TargetNamed, Kind: resource.KindServer})
	route.Register(t, op, func(ctx context.Context, in *namedBody) (*answer[*resource.Claim], error) {
		var req protoapi.AdoptRequest
		if err := route.Body("adopt server", in.RawBody, &req); err != nil {
			return nil, err
		}
		cl, err := c.room.AdoptServer(ctx, in.Name, req, route.Caller(ctx).Name)
		return decorated(c.status, cl, err)
	})
}

// Claims are those who have servers.
type Claims interface {
	// AdoptServer keeps a claimed server's system, or lets it be installed over.
	AdoptServer(ctx context.Context, server string, r protoapi.AdoptRequest, by string) (*resource.Claim, error)
}
