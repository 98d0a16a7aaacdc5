package api

import (
	"context"
	"net/http"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// ISOFiles has the uploaded files. It is used concurrently.
type ISOFiles interface {
	List(ctx context.Context) protoapi.ISOList
	Get(file string) (protoapi.ISOItem, error)
	Remove(ctx context.Context, file string, force bool, by string) (protoapi.ISOItem, error)
}

type isoInput struct {
	Name string `path:"name" doc:"the name of the file"`
}

type removeISOInput struct {
	Name  string `path:"name" doc:"the name of the file"`
	Force bool   `query:"force" doc:"remove it although environments name it"`
}

// isos has the routes of uploaded files. A hub without them answers unsupported.
type isos struct {
	objects *store.Objects
	shelf   ISOFiles // nil keeps none
	lost    losses
}

func (i isos) routes(t *route.Table) {
	ready := func() error { return kept(i.shelf != nil) }
	route.Register(t, t.Operation(http.MethodGet, protoapi.PathISOs, "listISOs", "List the uploaded files, and the uploads that have not ended", nil,
		route.Rule{Right: access.Read, Target: route.TargetEach}),
		func(ctx context.Context, _ *noInput) (*answer[protoapi.ISOList], error) {
			if err := ready(); err != nil {
				return nil, err
			}
			list := i.shelf.List(ctx)
			for n := range list.Items {
				i.hide(ctx, &list.Items[n])
			}
			list.Incomplete = i.lost.of(ctx, "iso")
			return &answer[protoapi.ISOList]{list}, nil
		})
	route.Register(t, t.Operation(http.MethodGet, protoapi.PathISOs+"/{name}", "getISO", "Read what is known of an uploaded file", nil,
		route.Rule{Right: access.Read, Target: route.TargetEach}),
		func(ctx context.Context, in *isoInput) (*answer[protoapi.ISOItem], error) {
			if err := ready(); err != nil {
				return nil, err
			}
			item, err := i.shelf.Get(in.Name)
			i.hide(ctx, &item)
			return &answer[protoapi.ISOItem]{item}, route.Problem(err)
		})
	route.Register(t, t.Operation(http.MethodDelete, protoapi.PathISOs+"/{name}", "removeISO", "Remove an uploaded file", nil,
		route.Rule{Right: access.Delete, Target: route.TargetWhole, ISO: true}),
		func(ctx context.Context, in *removeISOInput) (*answer[protoapi.ISOItem], error) {
			if err := ready(); err != nil {
				return nil, err
			}
			item, err := i.shelf.Remove(ctx, in.Name, in.Force, route.Caller(ctx).Name)
			return &answer[protoapi.ISOItem]{item}, route.Problem(err)
		})
}

// kept returns the problem of a hub that keeps no uploaded files.
func kept(is bool) error {
	if !is {
		return route.Problem(protocol.Errorf(protocol.CodeUnsupported, "uploaded files", "this hub keeps none"))
	}
	return nil
}

// hide leaves out the servers that a caller may not see.
func (i isos) hide(ctx context.Context, item *protoapi.ISOItem) {
	item.Servers = route.Visible(i.objects, route.Caller(ctx), item.Servers, func(server string, w *route.World) []access.Labels {
		return []access.Labels{access.AtServer(w, server)}
	})
}
