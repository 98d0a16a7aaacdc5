package api

import (
	"context"
	"net/http"
	"reflect"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// resources has the routes that all kinds have.
type resources struct {
	store  *store.Store
	status Decorator
	lost   losses
	clock  state.Clock
	// reboots does what reboot annotations ask for.
	reboots reboots
	watches watches
}

func (r resources) routes(t *route.Table) {
	registerKind[*resource.Rack](t, r)
	registerKind[*resource.Segment](t, r)
	registerKind[*resource.Param](t, r)
	registerKind[*resource.Profile](t, r)
	registerKind[*resource.Template](t, r)
	registerKind[*resource.BootEnv](t, r)
	registerKind[*resource.BootImage](t, r)
	registerKind[*resource.ManagedBootImages](t, r)
	registerKind[*resource.ServerGroup](t, r)
	registerKind[*resource.GroupRevision](t, r)
	registerKind[*resource.FirmwareProfile](t, r)
	registerKind[*resource.BMC](t, r)
	registerKind[*resource.Server](t, r)
	registerKind[*resource.Claim](t, r)
	registerKind[*resource.Maintenance](t, r)
	registerKind[*resource.Freeze](t, r)
	registerKind[*resource.AgentUpgrade](t, r)
	registerKind[*resource.Agent](t, r)
	registerKind[*resource.BootConfiguration](t, r)
	registerKind[*resource.Hold](t, r)
}

func registerKind[T resource.Object](t *route.Table, r resources) {
	kind := resource.KindOf[T]()
	all, one := protoapi.PathKind(kind), protoapi.PathKind(kind)+"/{name}"

	route.Register(t, t.Operation(http.MethodGet, all, "list"+string(kind), "List all, sorted by name, or with limit a page", nil,
		route.Rule{Right: access.On(access.Read, kind), Target: route.TargetEach, Heavy: true}),
		func(ctx context.Context, in *listInput) (*answer[protoapi.List[T]], error) {
			q, err := in.query(kind)
			if err != nil {
				return nil, route.Problem(err)
			}
			out, err := list[T](ctx, r, q)
			if err != nil {
				return nil, route.Problem(err)
			}
			return &answer[protoapi.List[T]]{out}, nil
		})

	r.watches.register(t, kind)

	route.Register(t, t.Operation(http.MethodGet, one, "get"+string(kind), "Read one", nil,
		route.Rule{Right: access.On(access.Read, kind), Target: route.TargetNamed, Kind: kind}),
		func(ctx context.Context, in *named) (*answer[T], error) {
			obj, err := store.Get[T](r.store.Objects, in.Name)
			if err == nil {
				resource.ShowReboots(obj, route.Caller(ctx).Name)
			}
			return decorated(r.status, obj, err)
		})

	if kind != resource.KindClaim && kind != resource.KindBootImage { // they have a query; see claims and bootImages
		route.Register(t, t.Operation(http.MethodDelete, one, "delete"+string(kind), "Delete", nil,
			route.Rule{Right: access.On(access.Delete, kind), Target: route.TargetNamed, Kind: kind}),
			func(ctx context.Context, in *deleteInput) (*answer[T], error) {
				guards, err := route.Unless(in.IfMatch)
				if err != nil {
					return nil, err
				}
				obj, err := r.store.Delete(ctx, kind, in.Name, guards...)
				if err != nil {
					return nil, route.Problem(err)
				}
				return decorated(r.status, obj.(T), nil)
			})
	}

	if !kind.Appliable() {
		return
	}
	op := t.Operation(http.MethodPut, one, "put"+string(kind), "Create, or change the spec", reflect.TypeFor[T]().Elem(),
		route.Rule{Right: access.On(access.Apply, kind), Target: route.TargetEach})
	route.Register(t, op, func(ctx context.Context, in *putInput) (*answer[T], error) {
		obj, wrong := route.Object(in.RawBody)
		if len(wrong) == 0 {
			h := obj.Head()
			switch {
			case h.Kind != kind:
				wrong = protocol.FieldErrors{{Path: "kind", Message: "is not the kind of the URL, " + string(kind)}}
			case h.Metadata.Name != in.Name:
				wrong = protocol.FieldErrors{{Path: "metadata.name", Message: "is not the name of the URL, " + in.Name}}
			}
		}
		if len(wrong) > 0 {
			return nil, route.Problem(protocol.Errorf(protocol.CodeInvalid, "put "+string(kind), "%w", wrong).
				WithHint("nothing was changed; correct the fields that are named"))
		}
		if err := route.Expect(in.IfMatch, &obj.Head().Metadata); err != nil {
			return nil, err
		}
		objs := []resource.Object{obj}
		res, _, err := r.reboots.apply(ctx, r.store.Sets, objs, store.ApplyOptions{By: route.Caller(ctx).Name, Guard: guard(ctx, r.store.Objects, objs)})
		if err != nil {
			return nil, route.Failed(in.IfMatch, err)
		}
		resource.ShowReboots(res[0].Object, route.Caller(ctx).Name)
		return decorated(r.status, res[0].Object.(T), nil)
	})
}
